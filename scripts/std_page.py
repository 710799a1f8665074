"""Makes docs/std.md, the page of the library's modules, from kernels/std, and runs the examples of the page.

usage: std_page.py SOURCE [--write] [--examples PTOC FOLDER]

Idea       a module is its head (the comment before the first empty line, with `// Example` and `// prints` at its end), sections (`// ---- text ----`)
           and kernels and functions with the comment before them.  What the page says stands in the module, and nowhere else.
Exit code  0: the page is what the modules say, and examples print what it says; 1: no.
"""
import os
import re
import subprocess
import sys

HEAD = """# The library: `std/`

`import "std/vec.pto" as vec;` makes the kernels of a module visible as `vec.name`. Every tensor may be a view with any strides, extents of 0 are
fine, and a result that names its place, `out y`, may be written as a value: `y = vec.add(a, b);`. A kernel *by index* is equations (see
[language.md](language.md)): its cost is the number of its operations, divided by the lanes of its worker, where the table says nothing, and the
compiler makes it for each level of the processor. The others are C, or work requests to an accelerator. C has no bf16, so a kernel whose body is C takes
every type of its class but that one, which the table says. `scripts/std_page.py . --write` makes this page from `kernels/std`.
"""


def module_parts(text):
    head, rest = re.match(r"((?://[^\n]*\n)+)(.*)", text, re.S).groups()
    return [line[3:] for line in head.splitlines()], rest


def kernel_rows(rest):
    """(section, comment, declaration, how it is made) of each kernel."""
    section, comment, of = "", [], None  # the kernel that the comment stands before: an overload behind it has the same
    lines = iter(rest.splitlines())
    for line in lines:
        if line.startswith("//"):
            title = re.match(r"// ---- (.*?) ----", line)
            if title:
                section, comment, of = title.group(1), [], None
            else:
                comment, of = (comment if of is None else []) + [line[3:]], None
            continue
        if re.match(r"(?:@\w+\(.*?\) )?(?:kernel|orch) ", line):
            declaration = line
            while "=>" not in declaration and not declaration.endswith((";", "{")):
                declaration += " " + next(lines).strip()
            name = re.search(r"(?:kernel|orch) (\w+)", declaration).group(1)
            yield section, " ".join(comment) if of in (None, name) else "", declaration
            of = name if of in (None, name) else ""
            if declaration.endswith("{"):
                while next(lines) != "}":
                    pass
            continue
        if not line.strip() and of is None:
            comment = []


def describe(declaration):
    if declaration.startswith("orch "):
        return declaration[5:].rstrip(" {"), "", "", "", "function"
    signature = re.search(r"kernel (.*?\))\s*(?:on|cost|where|extern|=>)", declaration).group(1)
    worker = re.search(r"\) on (\w+)", declaration)
    where = re.search(r" where (.*?) (?:cost|extern|=>|\{)", declaration)
    cost = re.search(r" cost (.*?)(?: where| extern| =>| \{|;)", declaration)
    made = "index" if "=>" in declaration else "request" if declaration.startswith("@") else "C"
    return signature, (worker.group(1) if worker else "vector"), (where.group(1) if where else ""), (cost.group(1) if cost else ""), made


def without_bf16(declaration):
    """Its classes have a type of which C knows nothing (E12)."""
    return "=>" not in declaration and declaration.endswith("{") and declaration.startswith("kernel ") and re.search(r"<[^>]*: (?:float|number|any)\b", declaration)


def page_of(source):
    folder = os.path.join(source, "kernels", "std")
    out = HEAD
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            head, rest = module_parts(f.read())
        example = head.index("Example") if "Example" in head else len(head)
        prints = head.index("prints") if "prints" in head else len(head)
        words = " ".join(line.strip() for line in head[:example]).split(": ", 1)[1].strip()
        out += "\n## std/%s\n\n%s\n" % (name, words[0].upper() + words[1:])
        if example < len(head):
            out += "\n```pto run\n%s\n```\n" % "\n".join(line[2:] for line in head[example + 1:prints])
            out += "```text\n%s\n```\n" % "\n".join(line[2:] for line in head[prints + 1:])
        last = None
        for section, comment, declaration in kernel_rows(rest):
            signature, worker, where, cost, made = describe(declaration)
            if last is None or section != last:
                out += "\n%s| kernel | on | cost | made of |\n|---|---|---|---|\n" % ("%s\n\n" % (section[0].upper() + section[1:]) if section else "")
                last = section
            text = "`%s`%s%s%s" % (signature, ", `where %s`" % where if where else "", ", no bf16" if without_bf16(declaration) else "",
                                   "<br>" + comment if comment else "")
            out += "| %s | %s | %s | %s |\n" % (text.replace("|", "\\|"), worker, "`%s`" % cost if cost else "", made)
    return out


def main():
    source = sys.argv[1]
    path = os.path.join(source, "docs", "std.md")
    page = page_of(source)
    if "--write" in sys.argv:
        with open(path, "w", encoding="utf-8") as f:
            f.write(page)
    with open(path, encoding="utf-8") as f:
        if f.read() != page:
            sys.exit("docs/std.md is not what kernels/std says: scripts/std_page.py . --write")
    if "--examples" in sys.argv:
        ptoc, folder = sys.argv[sys.argv.index("--examples") + 1:]
        here = os.path.dirname(os.path.abspath(__file__))
        sys.exit(subprocess.run([sys.executable, os.path.join(here, "run_pages.py"), ptoc, folder, path, "--some"]).returncode)
    print("docs/std.md: %d kernels" % page.count("\n| `"))


main()
