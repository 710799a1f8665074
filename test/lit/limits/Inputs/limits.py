"""limits.py PTOC FOLDER CASE ...: makes the program of each case, compiles it within bounds, and looks at how it ended.

Bounds: processor seconds that something quadratic in MANY things would need fifty times, and 512 MiB of addresses.
A case is a function that returns the files, and what the first message must say; None: accepted, and the C is made too."""
import os
import pathlib
import re
import resource
import subprocess
import sys

PTOC, FOLDER, names = sys.argv[1], sys.argv[2], sys.argv[3:]
MANY = 50_000
SECONDS = 10
KERNEL = "kernel k(inout a: f32[4]) on vector cost 1;\nkernel z(out a: f32[4]) on vector cost 1;\n"
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def main(text, expected=None, **files):
    return {"main.pto": text, **files}, expected


def orch(body, formals="inout a: f32[4]", head=KERNEL, expected=None):
    return main(f"{head}export orch f({formals}) {{\n{body}\n}}\n", expected)


def lines(form, count=MANY, first=0):
    return "\n".join(form.format(i=i, next=i + 1, last=i - 1) for i in range(first, first + count))


# ---- nesting
@case
def blocks_256_deep():
    return orch("{ " * 255 + "let x = 1;" + " }" * 255)


@case
def blocks_257_deep():
    return orch("{ " * 256 + "let x = 1;" + " }" * 256, expected="nested more than 256 levels deep")


@case
def parentheses_256_deep():
    return main(f"const A = {'(' * 256}1{')' * 256};\n")


@case
def brackets_257_deep():
    return main(f"const A = {'x[' * 257}1{']' * 257};\n", "nested more than 256 levels deep")


@case
def loops_250_deep():
    return orch("for i in 0 .. n { " * 250 + "print i;" + " }" * 250, "n: i64", "")


@case
def minus_300_in_a_row():
    return main(f"const A = {'-' * 300}1;\n", "more than 256 prefix operators in a row")


@case
def else_if_5000():
    return orch("if n == 0 { } " + " ".join(f"else if n == {i} {{ }}" for i in range(5000)), "n: i64", "", "more than 2000 levels deep")


# ---- names
@case
def name_of_64_kib():
    return main(f"const {'a' * 65536} = 1;\nexport orch f() {{ print {'a' * 65536}; }}\n")


@case
def name_longer_than_64_kib():
    return main(f"const {'a' * 65537} = 1;\n", "a name of 65537 bytes; the limit is 65536")


@case
def kernels_many():
    return main(lines("kernel k{i}(inout a: f32[4]) on vector cost 1;"))


@case
def kernels_of_one_name():
    return main(lines("kernel k(inout a: f32[4]) on vector cost 1;"), "kernel 'k' is declared twice")


@case
def constants_many():
    return main(lines("const c{i} = {i};") + f"\nstatic_assert c{MANY - 1} == {MANY - 1};\n")


@case
def functions_many():
    return main(lines("orch f{i}(n: i64) {{ if n > 0 {{ f{next}(n - 1); }} }}", 20000) + "\nexport orch f20000(n: i64) { f0(n); }\n")


@case
def params_many():
    return main(lines("param p{i}: i64 = {i};", 50000) + "\nexport orch f() { print p0; }\n")


@case
def unknown_names_many():
    return orch(lines("  q{i}(inout a);", 20000), head=lines("kernel k{i}(inout a: f32[4]) on vector cost 1;", 20000) + "\n",
                expected="unknown kernel or function 'q0'")


@case
def structs_that_double():
    return main("struct s0 { a: f32[4]; }\n" + lines("struct s{i} {{ a: s{last}; b: s{last}; }}", 60, 1),
                "struct 's13' has more than 4096 fields")


# ---- lists
@case
def formals_of_a_kernel():
    return main(f"kernel k({', '.join(f'a{i}: i64' for i in range(MANY))}) on vector cost 1;\n", f"'k' has {MANY} formals: at most 64")


@case
def formals_of_a_function():
    return main(f"orch f({', '.join(f'a{i}: i64' for i in range(MANY))}) {{ }}\n", f"'f' has {MANY} formals: at most 64")


@case
def dimensions():
    return main(f"kernel k(in a: f32[{', '.join('4' * MANY)}]) on cpu cost 1;\n", "more than 8 dimensions")


@case
def printed_values():
    return orch(f"print {', '.join('n' * MANY)};", "n: i64", "")


@case
def arms_of_a_match():
    return orch(f"match n {{ {lines('{i} => {{ print {i}; }}', 20000)} }}", "n: i64", "")


@case
def values_of_an_arm():
    return orch(f"match n {{ {', '.join(str(i) for i in range(MANY))} => {{ print 1; }} }}", "n: i64", "")


@case
def attributes():
    return orch("@priority(1) " * 20000 + "k(inout a);", expected="attribute '@priority' is given twice")


# ---- numbers
@case
def digits_of_an_integer():
    return main(f"const A = {'9' * MANY};\n", "does not fit")


@case
def digits_of_a_float():
    return main(f"const A = {'9' * MANY}.0;\n", "the number is too large for f64")


@case
def digits_that_are_zero():
    return main(f"const A = 0x{'0' * MANY}1;\nstatic_assert A == 1;\n")


@case
def constants_that_double():
    return main("const c0 = 1;\n" + lines("const c{i} = c{last} + c{last};", 100, 1), "the result does not fit in 64 bits")


@case
def constants_that_square():
    return main("const c0 = 3;\n" + lines("const c{i} = c{last} * c{last};", 100, 1), "the result does not fit in 64 bits")


@case
def constants_in_order():
    return main("const c0 = 1;\n" + lines("const c{i} = c{last} + 1;", MANY, 1) + f"\nstatic_assert c{MANY} == {MANY + 1};\n")


@case
def constants_backwards():
    return main(lines("const c{i} = c{next} + 1;") + f"\nconst c{MANY} = 1;\n", "at the end of 1000 declarations that need each other")


@case
def sizes_that_double():
    return orch("let x0 = n;\n" + lines("let x{i} = x{last} + x{last};", 60, 1) + "print x60;", "n: i64", "")


@case
def sizes_that_square():
    return orch("let x0 = n + m + 1;\n" + lines("let x{i} = x{last} * x{last};", 60, 1) + "print x60;", "n: i64, m: i64", "")


@case
def product_of_30_sums():
    names = [f"a{i}" for i in range(60)]
    product = " * ".join(f"({a} + {b})" for a, b in zip(names[::2], names[1::2]))
    return orch(f"let x = {product}; print x;", ", ".join(f"{a}: i64" for a in names), "")


@case
def minima_of_maxima():
    return orch("let x0 = n;\n" + lines("let x{i} = min(x{last} + m, max(x{last}, m) + {i});", 200, 1) + "\nlet t: f32[x200]; k(inout a[x200 +: 4]);",
                "n: i64, m: i64, inout a: f32[100000]")


@case
def quotients_of_quotients():
    return orch("let x0 = n;\n" + lines("let x{i} = (x{last} + {i}) / 3 + (x{last} % 5); z(out a[x{i} +: 4]);", 300, 1),
                "n: i64, inout a: f32[100000]")


@case
def hard_questions():
    return orch(lines('let a{i} = n * {i}; assert a{i} >= 0, "a"; let b{i} = a{i} / 3 % (n + {next}); assert b{i} < n, "b";', 500), "n: i64", "")


# ---- statements
@case
def statements():
    return orch("  k(inout a);\n" * MANY)


@case
def statements_on_one_line():
    return orch("k(inout a); " * MANY)


@case
def terms_of_a_sum():
    return orch("print " + "1 + " * 1900 + "1;")


@case
def lets():
    return orch("let x0 = n;\n" + lines("let x{i} = x{last} + 1;", MANY, 1) + f"print x{MANY};", "n: i64", "")


@case
def vars():
    return orch(lines("var x{i} = {i};") + "print x0;", head="")


@case
def swaps():
    swap = lines("let t{i} = u; u = v; v = t{i};", count=3000)
    return orch(f"var u = made();\nvar v = made();\n{swap}\nk(inout u); k(inout v);", head=KERNEL + "kernel made(out a: f32[4]) on vector cost 1;\n")


@case
def asserts():
    return orch(lines('assert n > {i}, "x";', 5000), "n: i64", "")


@case
def slices():
    return main(KERNEL + "export orch f<n>(inout a: f32[n]) {\n" + lines("  z(out a[{i} * 4 +: 4]);", 20000) + "}\n")


# Each has a read that nothing shows to be empty but thought: no function may be the one for which none is left.
@case
def many_questions():
    head = ("kernel ramp<N>(out a: u16[N]) on vector cost 1;\nkernel plus<N>(in a: u16[N], in b: u16[N], out c: u16[N]) on vector cost 1;\n")
    body = """ for i in 0 .. 1 step 3 {{
  let w = min(3, 1 - i); let h = (2 * w) / 2; let n = (2 * w - h) / 2;
  let full: u16[n]; ramp(out full);
  let none: u16[n];
  view tile = none tiled [1];
  for k in 0 .. ceil_div(n, 1) {{ ramp(out tile[k]); }}
  print plus(full, plus(none, full));
 }}"""
    return main(head + lines("orch f{i}() {{\n" + body + "\n}}", 6000) + "\nexport orch f() { f0(); }\n")


@case
def loops():
    return orch("for i in 0 .. n { k(inout a); }\n" * 10000, "n: i64, inout a: f32[4]")


@case
def whiles():
    return orch("var x = 0;\n" + "while x < n { x = x + 1; }\n" * 5000, "n: i64", "")


@case
def nested_views():
    return main("export orch f<n>(inout a: f32[n, n]) {\n view v0 = a tiled [2, 2];\n" + lines("view v{i} = v{last}[0, 0] tiled [2, 2];", 1000, 1) +
                "\nprint dim(v1000, 0);\n}\n")


# ---- bytes
@case
def bytes_without_meaning():
    return main("\x01" * 65536, "a control character")


@case
def braces_that_close_nothing():
    return main("}" * 65536, "closes nothing")


@case
def semicolons():
    return main(";" * 65536, "expected a declaration, found ';'")


@case
def two_dots_out_of_nowhere():
    return main(".. " * 20000 + "const A = ..;", "expected a declaration, found '..'")


@case
def string_of_a_mebibyte():
    return orch(f'print "{"a" * 2**20}";', head="")


@case
def lines_of_a_c_body():
    return main("kernel k(inout a: f32[4]) on vector cost 1 {\n" + "    a[0] = 1;\n" * MANY + "}\n")


# ---- modules
@case
def imports_that_are_missing():
    return main(lines('import "m{i}.pto" as m{i};'), 'cannot find the module "m0.pto"')


@case
def imports_of_one_file():
    return main(lines('import "one.pto" as m{i};'), **{"one.pto": "const a = 1;\n"})


@case
def imports_of_many_files():
    count = 5000  # the files themselves take longer than to read them
    return main(lines('import "m{i}.pto";', count) + "\nexport orch f() { print m7.a; }\n", **{f"m{i}.pto": f"const a = {i};\n" for i in range(count)})


@case
def imports_of_equal_stems():
    return main(lines('import "d{i}/same.pto" as s{i};', 3000), **{f"d{i}/same.pto": "const a = 1;\n" for i in range(3000)})


@case
def imports_in_a_row():
    return main('import "m0.pto" as n;', "imports are nested more than 256 deep",
                **{f"m{i}.pto": f'import "m{i + 1}.pto" as n;\n' for i in range(1000)}, **{"m1000.pto": ""})


@case
def imports_in_a_long_circle():
    return main('import "m0.pto" as n;', "modules import each other in a circle",
                **{f"m{i}.pto": f'import "m{(i + 1) % 200}.pto" as n;\n' for i in range(200)})


@case
def import_of_itself():
    return main('import "main.pto" as n;', "this module imports itself")


@case
def import_above_the_root():
    return main(f'import "{"../" * 200}nowhere.pto" as n;', "cannot find the module")


@case
def import_of_a_directory():
    return main('import "folder/.." as n;', "cannot read 'folder/..': is a directory", **{"folder/x": ""})


@case
def import_of_a_pipe():
    return main('import "pipe.pto" as n;', "cannot read 'pipe.pto': is a pipe", **{"pipe.pto": None})


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            os.mkfifo(path)
        else:
            path.write_text(text)


def bound():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))


def run(folder, *arguments):
    result = subprocess.run([PTOC, *arguments, "main.pto"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=bound)
    return result.returncode, result.stderr.decode(errors="replace")


def check(name):
    folder = pathlib.Path(FOLDER) / name
    folder.mkdir(parents=True)
    files, expected = CASES[name]()
    write(folder, files)
    # To make the C checks the program first.
    code, messages = run(folder, "check") if expected is not None else run(folder, "build", "--emit=c")
    first = re.search(r"error.*", messages)
    right = code == 0 if expected is None else code == 1 and first and expected in first[0]
    return right or f"exit {code}: {messages[:400]}"


failed = 0
for name in names:
    result = check(name)
    print(name, "ok" if result is True else result)
    failed += result is not True
sys.exit(failed > 0)
