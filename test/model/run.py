#!/usr/bin/env python3
"""run.py - tries every order of steps of protocol.pml, count.pml and ranks.pml, and demands that every seeded bug is found.

Idea       three kinds of search with spin.  A *model* must be searched to its end without an error; a *bug* must be found; a *witness*
           must be reached, so that a search without an error is not a search of nothing.
Also       the names of steps in the runtime's comments ("model: NAME") and those listed in the models must be the same.
Sizes      Small models, each aspect of the protocol in one of them.  PTO_MODEL=usual: larger ones, which take a minute of two processors more;
           .ci/run asks for them.  PTO_MODEL=quick: no models, only bugs and witnesses.  PTO_MODEL=deep: those of `usual` and larger ones,
           which take five minutes more and up to PTO_MODEL_MEMORY MB each (default 10000).  Arguments: names of searches to run, all when there are none.
Exit       0: all as demanded.  1: not.  77: spin or a C compiler is missing.
"""
import concurrent.futures, os, pathlib, re, shutil, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
RUNTIME = HERE.parent.parent / "runtime"
PROTOCOL, COUNT, RANKS = HERE / "protocol.pml", HERE / "count.pml", HERE / "ranks.pml"

# Small programs make small searches: what a search is not about is switched off.
PLAIN = "BEGINS=0 RELEASES=0 "

# name, text, sizes of a search of some seconds, sizes of one of ten to thirty
MODELS = [
    ("scopes",   "three tasks, two scopes, early release",        "W=2 NT=3 NB=1 BEGINS=1 RELEASES=1", "W=2 NT=3 NB=2 BEGINS=1 RELEASES=1"),
    ("wide",     "a window of three, fan-in of two",              "W=3 NT=3 NB=1 BEGINS=1 RELEASES=0", "W=3 NT=3 NB=2 BEGINS=1 RELEASES=0"),
    ("release",  "a window of three, early release",              "W=3 NT=3 NB=1 BEGINS=0 RELEASES=2", "W=3 NT=3 NB=2 BEGINS=0 RELEASES=2"),
    ("reuse",    "four tasks, every slot used twice",             PLAIN + "W=2 NT=4 NB=2", PLAIN + "W=2 NT=4 NB=2"),
    ("in-place", "tasks that also write in place",                "BEGINS=0 W=2 NT=3 NB=1 WRITES=1", "BEGINS=0 W=3 NT=4 NB=1 WRITES=1"),
    ("await",    "await, and buffers without a task",             PLAIN + "W=2 NT=3 NB=1 OPENS=1 AWAITS=1", PLAIN + "W=2 NT=3 NB=2 OPENS=1 AWAITS=1"),
    ("workers",  "two workers: three threads pass the role",      PLAIN + "W=2 NT=2 NB=1 NWORK=2 LANE=1", PLAIN + "W=2 NT=3 NB=1 NWORK=2 LANE=1"),
    ("failure",  "kernels that fail",                             PLAIN + "W=2 NT=3 NB=2 FAILS=1", PLAIN + "W=3 NT=3 NB=2 FAILS=2"),
    ("cancel",   "a cancel at any time, beside a failure",        "BEGINS=0 W=2 NT=2 NB=1 FAILS=1 CANCEL=1", "BEGINS=0 W=2 NT=2 NB=2 FAILS=1 CANCEL=1"),
    ("helper",    "the waiting orchestrator serves a lane",       PLAIN + "W=2 NT=3 NB=2 HELPER=1", PLAIN + "W=2 NT=3 NB=2 HELPER=1"),
    ("helpers",   "the same beside a worker",                     PLAIN + "W=2 NT=2 NB=1 NWORK=2 LANE=1 HELPER=1",
     PLAIN + "W=2 NT=2 NB=1 NWORK=2 LANE=1 HELPER=1 FAILS=1"),
    ("fine",     "every access to a shared word is a step",       "FINE=1 BEGINS=0 W=2 NT=2 NB=2", "FINE=1 BEGINS=0 W=2 NT=2 NB=2"),
]

DEEP = [
    ("scopes-3",   "three slots, two scopes, early release",      "W=3 NT=3 NB=2 BEGINS=1 RELEASES=1"),
    ("scopes-4",   "four tasks, two scopes",                      "W=3 NT=4 NB=2 BEGINS=1 RELEASES=0"),
    ("workers-2",  "two workers, two buffers",                    PLAIN + "W=2 NT=2 NB=2 NWORK=2 LANE=1"),
    ("cancel-3",   "three tasks, a failure and a cancel",         PLAIN + "W=2 NT=3 NB=2 FAILS=1 CANCEL=1"),
    ("fine-3",     "three tasks, every access a step",            "FINE=1 BEGINS=0 RELEASES=1 W=2 NT=3 NB=2"),
]

# number, hazard of the design that it stands for, what is wrong, sizes
BUGS = [
    (1,  "H15", "a producer that completed, not retired yet, is still counted",   PLAIN + "W=3"),
    (2,  "H15", "a producer that retired is looked for in its slot",              PLAIN),
    (3,  "H15", "completion walks the list, takes tasks, then sets the state",    PLAIN),
    (4,  "H16", "a handle is used after its release",                             "BEGINS=0"),
    (5,  "H18", "a consumer is counted on its buffers when it is ready",          "BEGINS=0"),
    (6,  "H19", "the count of producers is set after completions",                PLAIN),
    (7,  "H20", "a task is ready when its first producer has completed",          PLAIN + "W=3"),
    (8,  "H21", "a started task stays ready",                                     PLAIN),
    (9,  "H22", "an event is taken before the tasks that its stamp counts",       "BEGINS=0"),
    (10, "H22", "event_head is loaded before task_head",                          "BEGINS=0 OPENS=1 NT=2"),
    (11, "H23", "a slot's list is not emptied for the next task",                 PLAIN),
    (12, "H24", "no reference of the owning scope",                               PLAIN),
    (13, "H18", "no reference of the task itself on its output",                  "BEGINS=0"),
    (14, "H23", "a new buffer's count is set after its consumers counted",        "BEGINS=0"),
    (15, "H17", "a slot is free before its completion is visible",                PLAIN),
    (16, "H17", "tasks retire in the order they complete",                        PLAIN + "W=3"),
    (17, "H32", "no look at the input after the role is given back",              PLAIN),
    (18, "H32", "a worker announces that it sleeps after its last look",          PLAIN),
    (19, "H47", "quiet is decided without the role",                              PLAIN),
    (20, "H47", "quiet ignores running tasks",                                    PLAIN),
    (21, "H36", "the tail is published only with a task that has an output",           PLAIN),
    (22, "H22", "the orchestrator takes the scope's reference away itself",       "BEGINS=0"),
    (23, "H52", "a failure that comes second does not cancel its dependents",     PLAIN + "FAILS=1 CANCEL=1"),
    (24, "H45", "a holder without progress does not wake the orchestrator",       PLAIN + "NT=2 NB=1"),
    (25, "H52", "a failed run does not complete what is ready",                   PLAIN + "FAILS=1"),
    (26, "H32", "the orchestrator announces that it sleeps after its last look",  PLAIN),
    (27, "H45", "the orchestrator sleeps without asking whether all is quiet",    PLAIN + "NT=2 NB=1"),
    (28, "H32", "the orchestrator sleeps without a look at what it kept shut",    PLAIN + "W=2 NT=2 NB=1 HELPER=1"),
    (29, "H52", "what follows a failed task in its lane runs all the same",       PLAIN + "W=3 FAILS=1"),
    (30, "H20", "a task follows in one lane what was sent to another",            PLAIN + "W=3 NB=2 NWORK=2"),
    (31, "H21", "a worker goes on with what was sent after it saw whose lane it is", PLAIN + "W=2 NT=3 NB=2 HELPER=1"),
]

WITNESSES = [
    (1, "a deadlock is proved",                                      PLAIN),
    (2, "a failed submission gives its output back",                 PLAIN + "FAILS=1"),
    (3, "a cancelled task makes another one ready",                  PLAIN + "W=3 FAILS=1"),
    (4, "the orchestrator is woken for a slot",                      PLAIN),
    (5, "a worker hands over to the sleeping orchestrator",          PLAIN),
    (6, "a slot is used again",                                      PLAIN),
    (7, "a producer completes between publication and taking",       PLAIN + "W=3"),
    (8, "an await waits",                                            PLAIN + "AWAITS=1"),
    (9, "a task follows another in its lane",                        PLAIN),
]

# The count of references: count.pml.
COUNT_MODELS = [   # both sizes are one
    ("count",    "two users, three operations each, the spread form",   *2 * ["NU=2 OPS=3"]),
    ("count-3",  "three users who only release",                        *2 * ["NU=3 OPS=1"]),
]

COUNT_BUGS = [
    (1, "O1", "the closer does without the barrier",                    "NU=2 OPS=3"),
    (2, "O1", "the closer does not wait for busy",                      "NU=2 OPS=3"),
    (3, "K3", "the sum is read before closed is set",                   "NU=2 OPS=3"),
    (4, "K6", "decrement and test apart",                               "NU=2 OPS=1"),
    (5, "O5", "the word is not raised when the slots are published",    "NU=2 OPS=3"),
]

COUNT_WITNESSES = [
    (1, "an operation finds the slots closed",                          "NU=2 OPS=3"),
    (2, "the spread form is entered after a user has ended",            "NU=2 OPS=3"),
    (3, "a reference of the word is dropped in a slot",                 "NU=2 OPS=3"),
]


# Ranks: ranks.pml.
RANK_MODELS = [
    ("ranks",      "two ranks, one slot for messages",                  "NT=3 W=2", "NT=4 W=3"),
    ("ranks-fail", "the same, and kernels that fail",                   "NT=3 W=2 FAILS=1", "NT=3 W=3 FAILS=2"),
]

RANK_DEEP = [
    ("ranks-3",    "three ranks",                                      "RANKS=3 NT=3 W=2"),
]

RANK_BUGS = [
    (1, "D3", "slots by readiness: the oldest message waits for one, too",   "NT=4 W=3"),
    (2, "D3", "a failure is reported to no other rank",                      "NT=3 W=3 FAILS=1"),
    (3, "D3", "a rank that has failed waits for the messages it is to get",  "NT=3 W=3 FAILS=1"),
    (4, "D1", "a rank that fails ends with its own failure",                 "NT=3 W=3 FAILS=2"),
    (5, "D3", "a rank that has failed does not meet the others",             "NT=3 W=3 FAILS=1"),
    (6, "D1", "a rank that was ready ends well, though another one failed",  "NT=3 W=3 FAILS=1"),
]

RANK_WITNESSES = [
    (1, "the oldest message leaves while all slots are taken",          "NT=3 W=3"),
    (2, "two ranks fail",                                               "NT=3 W=3 FAILS=2"),
    (3, "a rank that has met the others hears of a failure",            "NT=3 W=3 FAILS=1"),
]


# A search waits for memory, and nearly all of what it asks for it touches: with huge pages it takes two thirds of the processor time.  Glibc reads
# this, another library does not; where the system gives no huge pages nothing changes.
HUGE_PAGES = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864"


def tool(*names):
    return next((path for path in map(shutil.which, names) if path), None)


def search(model, sizes, extra, memory, limit):
    """Runs one search; says (states, what went wrong or None, complete, seconds)."""
    with tempfile.TemporaryDirectory(prefix="pto-model-") as folder:
        since = time.monotonic()
        flags = ["-D" + size for size in (sizes + " " + extra).split()]
        shutil.copy(model, folder)
        done = subprocess.run([tool("spin"), "-a", *flags, model.name], cwd=folder, capture_output=True, text=True)
        if done.returncode or "rror" in done.stdout or not os.path.exists(os.path.join(folder, "pan.c")):
            return 0, "spin: " + (done.stdout + done.stderr).strip(), False, 0
        # A search waits for memory: GCC takes 2 s for -Og and twice as long for -O1, and a small one ends as soon after tcc.  NOCOMP: a
        # state is stored as it is, in a tenth more memory, which the deep models do not have.
        is_small = extra or not os.environ.get("PTO_MODEL")
        compiler = [tool("tcc", "cc", "gcc", "clang"), "-O0"] if is_small else [tool("cc", "gcc", "clang"), "-Og"]
        store = [] if os.environ.get("PTO_MODEL") == "deep" else ["-DNOCOMP"]
        done = subprocess.run([*compiler, "-w", "-DSAFETY", *store, f"-DMEMLIM={memory}", "-o", "pan", "pan.c"],
                              cwd=folder, capture_output=True, text=True)
        if done.returncode:
            return 0, "cc: " + done.stderr.strip(), False, 0
        try:
            # -m: the longest path; spin says so when it is too short, and then the search does not count
            text = subprocess.run(["./pan", "-m200000"], cwd=folder, capture_output=True, text=True, timeout=limit,
                                  env={**os.environ, "GLIBC_TUNABLES": HUGE_PAGES}).stdout
        except subprocess.TimeoutExpired:
            return 0, None, False, time.monotonic() - since
        states = re.search(r"(\d+) states, stored", text)
        errors = re.search(r"errors: (\d+)", text)
        found = re.search(r"pan:1: (.*) \(at depth", text)
        complete = (errors is not None and "Full statespace search" in text and "Search not completed" not in text
                    and "too small" not in text and "reached -DMEMLIM" not in text)
        trail = os.path.exists(os.path.join(folder, model.name + ".trail"))
        error = found.group(1) if found and trail and errors and errors.group(1) == "1" else None
        if error is None and errors and errors.group(1) != "0":
            error, complete = "an error that this script does not understand", False
        return int(states.group(1)) if states else 0, error, complete, time.monotonic() - since


def check_names():
    """The steps that the models list, and those that the runtime's comments name."""
    listed = set()
    for model in (PROTOCOL, COUNT, RANKS):
        listed |= set(re.search(r"\* Steps +((?:.|\n)*?)\n \* [A-Z][a-z]", model.read_text()).group(1).replace("*", " ").split())
    used = set()
    for path in [*RUNTIME.rglob("*.c"), *RUNTIME.rglob("*.h")]:
        for names in re.findall(r"model: ([A-Z_]+(?:, [A-Z_]+)*)", path.read_text()):
            used |= set(names.split(", "))
    bad = [f"the runtime names no place for step {n}" for n in sorted(listed - used)]
    return bad + [f"no model lists step {n}, which the runtime names" for n in sorted(used - listed)]


def main():
    if not tool("spin") or not tool("cc", "gcc", "clang"):
        print("the model is not checked: install the packages spin and gcc")
        return 77
    size = os.environ.get("PTO_MODEL", "")
    memory = int(os.environ.get("PTO_MODEL_MEMORY", "10000" if size == "deep" else "3000"))
    limit = 7200 if size == "deep" else 600
    jobs = []
    for model, prefix, models, deep, bugs, witnesses in ((PROTOCOL, "", MODELS, DEEP, BUGS, WITNESSES),
                                                         (COUNT, "count-", COUNT_MODELS, [], COUNT_BUGS, COUNT_WITNESSES),
                                                         (RANKS, "ranks-", RANK_MODELS, RANK_DEEP, RANK_BUGS, RANK_WITNESSES)):
        if size != "quick":
            jobs += [(model, name, text, "correct", large if size in ("usual", "deep") else small, "") for name, text, small, large in models]
            jobs += [(model, name, text, "correct", sizes, "") for name, text, sizes in (deep if size == "deep" else [])]
        jobs += [(model, f"{prefix}bug-{n:02}", f"{hazard} {text}", "found", sizes, f"BUG={n}") for n, hazard, text, sizes in bugs]
        jobs += [(model, f"{prefix}witness-{n}", text, "reached", sizes, f"WITNESS={n}") for n, text, sizes in witnesses]
    if len(sys.argv) > 1:
        unknown = set(sys.argv[1:]) - {job[1] for job in jobs}
        if unknown:
            print("no such search:", *sorted(unknown))
            return 1
        jobs = [job for job in jobs if job[1] in sys.argv[1:]]

    since = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("PTO_MODEL_JOBS", min(os.cpu_count() or 1, 4)))) as pool:
        futures = [pool.submit(search, model, sizes, extra, memory, limit) for model, _, _, _, sizes, extra in jobs]
        rows, failures = [], check_names()
        for (_, name, text, wanted, _, _), future in zip(jobs, futures):
            states, error, complete, seconds = future.result()
            if wanted == "correct":
                good = error is None and complete and states > 0
                verdict = "correct" if good else f"WRONG: {error}" if error else "NOT SEARCHED TO THE END"
            elif wanted == "found":
                good = error is not None and not error.startswith(("spin:", "cc:", "an error"))
                verdict = f"found: {error}" if good else error or "NOT FOUND"
            else: # the marker itself must fail, nothing else
                good = error is not None and re.match(r"assertion violated +\(+(\d+)!=\1\)", error) is not None
                verdict = "reached" if good else error or "NOT REACHED"
            if not good:
                failures.append(f"{name}: {verdict}")
            rows.append((name, states, seconds, verdict, text))
    print(f"{'search':<15} {'states':>10} {'s':>6}  verdict")
    for name, states, seconds, verdict, text in rows:
        print(f"{name:<15} {states:>10} {seconds:>6.1f}  {text}: {verdict if len(verdict) < 72 else verdict[:69] + '...'}")
    for failure in failures:
        print("FAILED", failure)
    print(f"{len(rows)} searches, {len(failures)} failed, {time.monotonic() - since:.0f} s")
    return 1 if failures else 0


sys.exit(main())
