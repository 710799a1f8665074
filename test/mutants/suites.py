"""suites.py - which suites have to notice a mutant of a file, the likely killer first.

Idea       a suite is an entry of ctest.  The unit test of the file's own name comes first, then what is fast, then what is slow.  For an
           order of memory the searches of schedules come before them.
Owner      suites_for(), Suite.
Invariant  a suite that is not in the build is left out; the last suites of a folder are whole programs.
Tests      self_test.py
"""
import collections
import os

# tests: a few of its lit tests instead of all; is_slow: left out by --quick; file_seconds: of one lit test, 0: as of all; links: those of the
# targets that need the mutant, where they are not all.
Suite = collections.namedtuple("Suite", "name targets seconds environment is_slow tests file_seconds links", defaults=(False, (), 0, ()))

# The searches of schedules over the runtime's C, which an order of memory that is too weak fails.
CHECKS = ("check_parts", "check_count", "check_device", "check_threads", "check_process", "check_relaxations")
PROGRAMS = ("ptoc", "pto_runtime", "pto_kernels", "pto")
LINKED = ("ptoc", "pto_runtime")   # what a single test of lit needs of a mutant; the whole suite has libpto.so, too
OF_REPORTS = ("wire_reports", "wire_files", "wire_pages")   # what several ranks write together
WIRES = ("wire_local", "wire_programs", "wire_plans", *OF_REPORTS, "wire_options")
PYTHON = ("python_calls", "python_exchange", "python_registry", "python_views", "python_messages")
MORE_TARGETS = {"lit_build": ("all",), "lit_ascend": ("stub_new", "stub_old", "tile_mock"), "lit_accepted": ("fuzz_seeds",),
                "test_resident": ("test_resident", "hosted"), "device_graphs": ("resident_graphs", "hosted"),
                "test_ascend": ("test_ascend", "stub_new", "unit_kernels"), "wire_of_mpi": ("check_wire", "pto_wire_mpi")}
MORE_TARGETS.update((name, ("all",)) for name in WIRES + ("report_page",))
MORE_TARGETS.update((name, ("check",)) for name in CHECKS)
LINKS = {name: LINKED + ("check_wire",) for name in WIRES + ("report_page",)}
SECONDS = {"test_process": 120, "stress_graphs": 240, "stress_limits": 240, "random_valid": 300, "random_broken": 300, "random_by_index": 300, "lit_memory": 600, "lit_run": 500, "lit_ascend": 400, "wire_options": 300, "wire_programs": 200}
FILE_SECONDS = {"lit_memory": 150, "lit_run": 200, "lit_ascend": 200}
ENVIRONMENT = {"stress_graphs": {"PTO_GRAPHS": "100"}, "random_valid": {"PTO_RANDOM": "100", "PTO_SEED": "7000"},
               "random_broken": {"PTO_RANDOM": "150", "PTO_SEED": "7000"}}

SLOW = ("test_process", "stress_limits", "device_graphs")

GRAPHS = ["stress_graphs", "lit_run", "test_resident", "device_graphs", "test_process", "stress_limits"]
# The first folder or file that a path begins with.
MAP = [
    ("runtime/backend/ascend", ["test_ascend", "lit_ascend"]),
    ("runtime/backend", ["test_requests", "test_runtime", "lit_run"]),
    ("runtime/device", ["test_resident", "device_graphs", "check_device"]),
    ("runtime/report/joined", [*OF_REPORTS]),
    ("runtime/report/parcel", [*OF_REPORTS]),
    ("runtime/report", ["test_record", "test_replay", "test_whatif", "test_edges", "test_history", "report_page", "lit_host", "lit_run", "lit_build"]),
    ("runtime/host/call", [*PYTHON, "lit_run"]),
    ("runtime/registry", [*PYTHON, "lit_run"]),
    ("runtime/host/ranked", [*OF_REPORTS, "wire_plans", "wire_options"]),
    ("runtime/api/unwind", ["test_unwind", "wire_options", "wire_programs", "lit_run"]),
    ("runtime/host", ["test_npy", "test_options", "test_bind", "test_whole_file", "lit_host", "lit_run", "lit_build", "lit_oracle", "lit_codegen", "random_valid"]),
    ("runtime/dist", ["test_ranks", "test_ranks_failing", "test_ranks_refused", *WIRES]),
    ("runtime/wire/mpi", ["wire_of_mpi", *WIRES]),
    ("runtime/wire", [*WIRES]),
    ("runtime/engine", ["test_runtime", "test_lanes", "test_chaining", "test_fast_path"] + GRAPHS + ["lit_host", "random_valid"]),
    ("runtime", ["test_runtime"] + GRAPHS + ["lit_host", "random_valid"]),
    ("codegen/emit/emit_ascendc", ["lit_ascend", "test_ascendc"]),
    ("codegen/emit/emit_memory", ["lit_memory", "lit_codegen", "lit_build"]),
    ("codegen/emit/equations", ["lit_codegen", "lit_run", "lit_build", "lit_ascend", "random_by_index", "random_valid"]),
    ("codegen/passes/join", ["lit_codegen", "lit_ir", "lit_run", "random_by_index", "random_valid"]),
    ("codegen/analysis", ["lit_codegen", "lit_sema", "lit_run", "lit_oracle", "lit_results", "random_valid", "lit_memory"]),
    ("codegen", ["lit_ir", "lit_codegen", "lit_build", "lit_run", "lit_oracle", "lit_headers", "lit_host", "lit_ascend", "random_valid"]),
    ("frontend/syntax/format", ["lit_fmt", "lit_build"]),
    ("frontend/sema/fact", ["test_facts", "lit_equations", "lit_sema", "lit_diag", "lit_codegen", "lit_run", "lit_build", "lit_oracle", "random_by_index", "random_valid"]),
    ("frontend/sema/equations", ["lit_equations", "lit_sema", "lit_diag", "lit_codegen", "lit_run", "lit_build", "random_by_index", "random_valid"]),
    ("frontend/grad", ["lit_grad"]),
    ("frontend", ["lit_sema", "lit_parse", "lit_lexer", "lit_reject", "lit_diag", "lit_codegen", "lit_run", "lit_build", "lit_accepted", "lit_fmt",
                  "random_broken", "random_valid", "lit_limits"]),
]


def suite(name):
    is_program = name.startswith(("lit_", "random_", "wire_", "report_", "python_"))
    targets = PROGRAMS + MORE_TARGETS.get(name, ()) if is_program else MORE_TARGETS.get(name, (name,))
    return Suite(name, targets, SECONDS.get(name, 240 if name.startswith("lit_") else 60), ENVIRONMENT.get(name, {}),
                 is_program or name in SLOW, file_seconds=FILE_SECONDS.get(name, 0), links=LINKS.get(name, ()))


def only(*tests):
    """The suite that has these tests of lit alone."""
    return suite("lit_" + tests[0].split("/")[0])._replace(tests=tests, links=LINKED)


def suites_for(path, known, operator):
    """Suites by falling likelihood; known: the names that ctest has."""
    stem = os.path.splitext(os.path.basename(path))[0]
    own = [name for name in ("test_" + stem, "test_" + stem.split("_")[0]) if name in known and path.startswith(("runtime", "frontend"))]
    checks = list(CHECKS) if operator == "order" else []
    names = checks + own + next((names for prefix, names in MAP if path.startswith(prefix)), [])
    units = [name for name in known if name.startswith("test_") and not name.startswith("test_kernels")]
    names += sorted(set(units) - set(names))   # the run leaves out those that the file is no part of
    return [suite(name) for name in dict.fromkeys(names) if name in known]
