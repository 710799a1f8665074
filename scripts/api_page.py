"""Makes docs/c-api.md, the page of the calls in C, from the comments of the public headers.

usage: api_page.py SOURCE [--write]

Idea       a header is a theme: its head, sections (`/* ---- text ---- */`), types and calls with the comment before them, in their order.  What the
           page says stands in the headers, and nowhere else; only its introduction is written here.
Invariant  every name that libpto.so exports, and that is not of the library itself (name_), has a heading.
Exit code  0: the page is what the headers say; 1: no.
"""
import os
import re
import sys

THEMES = [
    ("pto_version.h", "The version"),
    ("pto_status.h", "Statuses"),
    ("pto_types.h", "Types, kernels and parameters of tasks"),
    ("pto_runtime.h", "Runtimes, runs and tasks"),
    ("pto_submit.h", "Submitting"),
    ("pto_stats.h", "Numbers of a run"),
    ("pto_registry.h", "Tensors of the host"),
    ("pto_pool.h", "Pools of memory"),
    ("pto_sparse.h", "Sparse matrices"),
    ("pto_call.h", "Programs that are loaded"),
    ("pto_scratch.h", "For kernels of generated C: scratch"),
    ("pto_equations.h", "For kernels of generated C: index notation"),
    ("pto_strip.h", "For generated C: strips of loops"),
    ("pto_program.h", "For generated C: checks, frames and the table of entries"),
]

HEAD = """# The calls in C

Every public call of `libpto`, by theme, with the threads that may make it, whether it blocks, and its statuses. `scripts/api_page.py . --write` makes this page
from the comments of `<pto/*.h>`. How a host is built is in [embedding.md](embedding.md); `<pto/pto.hpp>` has the same for C++, with owning handles.

A program that uses the library alone: two tasks, of which the second waits for what the first writes.

```c tasks.c
#include <pto/pto_runtime.h>
#include <stdio.h>

enum { N = 4 };

static int fill(const PTOArg *args)
{
    float *y = args[0].ptr;
    for (int64_t i = 0; i < args[0].shape[0]; i++) y[i] = args[1].value.f32;
    return 0;
}

static int add(const PTOArg *args)
{
    const float *x = args[0].ptr;
    float *y = args[1].ptr;
    for (int64_t i = 0; i < args[0].shape[0]; i++) y[i] += x[i];
    return 0;
}

static const PTOKernel fill_kernel = {.name = "fill", .worker = PTO_WORKER_VECTOR, .fn = fill};
static const PTOKernel add_kernel = {.name = "add", .worker = PTO_WORKER_VECTOR, .fn = add};

static void orchestrate(PTORuntime *rt, void *y)
{
    void *x = NULL; /* the runtime allocates it */
    PTO_SUBMIT(rt, &fill_kernel, PTO_OUTPUT(&x, 0, PTO_ARRAY(PTO_F32, N)), PTO_SCALAR(2.0f));
    PTO_SUBMIT(rt, &add_kernel, PTO_INPUT(x, 0, PTO_ARRAY(PTO_F32, N)), PTO_INOUT(y, 0, PTO_ARRAY(PTO_F32, N)));
}

int main(void)
{
    PTOStatus status;
    float y[N] = {1, 2, 3, 4};
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_THREADS}, &status);
    if (!rt) return fprintf(stderr, "%s: %s\\n", pto_status_name(status), pto_last_error(NULL)), 1;
    status = pto_runtime_run(rt, orchestrate, y);
    if (status != PTO_OK) fprintf(stderr, "%s\\n", pto_last_error(rt));
    printf("%g %g %g %g, %lld tasks\\n", y[0], y[1], y[2], y[3], (long long)pto_get_run_stats(rt)->tasks);
    pto_runtime_destroy(rt);
    return status != PTO_OK;
}
```

```sh run
cc -Wall -Wextra $(PKG_CONFIG_PATH=$PREFIX/lib/pkgconfig pkg-config --cflags --libs pto) tasks.c -Wl,-rpath,$PREFIX/lib -o tasks -L$PREFIX/lib -lpto
./tasks
```
```text
3 4 5 6, 2 tasks
```
"""

NAME = re.compile(r"(?<![\w`/.])((?:pto_|PTO_?)\w+(?:\.\w+)*(?: \*+(?!\w)|\([\w, ]*\))?)")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def markup(text):
    """A sentence of a comment in Markdown: names become code, and nothing else is markup."""
    parts = re.split(r"(`[^`]*`)", text)
    for i in range(0, len(parts), 2):
        pieces = NAME.split(parts[i])
        for k in range(0, len(pieces), 2):
            pieces[k] = re.sub(r"([*<\[|_])", r"\\\1", pieces[k])
        for k in range(1, len(pieces), 2):
            pieces[k] = "`%s`" % pieces[k]
        parts[i] = "".join(pieces)
    return "".join(parts)


def lines_of(comment):
    """The text of a comment without its stars."""
    return [re.sub(r"^ \* ?", "", line).rstrip() for line in comment[2:-2].split("\n")]


ROW = "@row@ "


def paragraphs(lines):
    """Markdown of lines of a comment: paragraphs; indented lines are code; a word, two blanks and a text is an item."""
    out, code, text = [], [], []

    def flush():
        if text:
            out.append(markup(" ".join(" ".join(text).split())))
            text.clear()
        if code:
            out.append("```c\n%s\n```" % "\n".join(line[4:] for line in code))
            code.clear()

    item, rows = 0, False  # the column of the text of an item
    for line in lines:
        stripped = line.strip()
        match = re.match(r"([A-Z][\w, ]*?) {2,}(\S.*)$", line)
        if not stripped:
            flush()
            item = 0
        elif match and match.start(2) >= 8:
            flush()
            item = match.start(2)
            if match.group(1) in ("Idea", "Tests"):
                break  # for readers of the source
            name, first = match.groups()
            rows = re.match(r"PTO_[A-Z0-9]+ ", first) is not None  # a table below the word
            text.append("- @@%s@@: %s" % (name, ROW + first if rows else first))
        elif item and line.startswith(" " * item):
            text.append(ROW + stripped if rows and line[item] != " " else stripped)
        elif line.startswith("    "):
            if text:
                flush()
            code.append(line)
        else:
            if code or item:
                flush()
            item = 0
            text.append(stripped)
    flush()
    joined = ""
    for part in out:
        part = re.sub(r"^- @@(.*?)@@", r"- **\1**", part).replace(": " + ROW.strip(), ":\n  -").replace(" " + ROW.strip(), "\n  -")
        joined += ("\n" if part.startswith("- ") and joined.rsplit("\n", 1)[-1].startswith("- ") else "\n\n") + part
    return joined.strip()


def call_text(comment):
    """What a call does, then who may call it, then its statuses."""
    text = "\n".join(lines_of(comment)).strip()
    before, *rest = re.split(r"\bCaller(?::| {2,})", text, maxsplit=1)
    parts = [paragraphs(before.strip().split("\n"))] if before.strip() else []
    if rest:
        caller, *status = re.split(r"\bStatus(?::| {2,})", rest[0], maxsplit=1)
        parts.append("- **Caller**: " + markup(" ".join(caller.split())))
        if status:
            parts[-1] += "\n- **Status**: " + markup(" ".join(status[0].split()))
    return "\n\n".join(parts)


def declaration(text):
    text = text.replace("PTO_API ", "").replace("PTO_NORETURN ", "")
    text = re.sub(r"\s*__attribute__\(\(.*\)\)", "", text, flags=re.S)
    return re.sub(r" ?\((pto_\w+)\)\(", r" \1(", text.rstrip("{ \n;")) + ";"


def items(body):
    """(kind, comment before it, text) of what stands at the left edge of a header."""
    lines, comment, at = body.split("\n"), None, 0

    def until(test):
        nonlocal at
        begin = at
        while not test(lines[at]):
            at += 1
        at += 1
        return "\n".join(lines[begin:at])

    while at < len(lines):
        line = lines[at]
        if line.startswith("/*"):
            if comment:
                yield "comment", comment, ""
            comment = until(lambda x: x.endswith("*/"))
            if comment.startswith("/* ----"):
                yield "section", None, comment.strip("/* -")
                comment = None
            continue
        if re.match(r"PTO_API .*\(", line):
            yield "call", comment, until(lambda x: x.endswith(";"))
        elif line.startswith("static inline "):
            yield "inline", comment, until(lambda x: ")" in x).split("{")[0]
        elif re.match(r"(typedef )?(struct|enum|union)\b.*\{$", line):
            yield "type", comment, until(lambda x: x.startswith("}"))
        elif re.match(r"(typedef|enum) .*;", line) or re.match(r"typedef .*[,(]$", line):
            yield "type", comment, until(lambda x: ";" in x)
        else:
            at += 1
            if comment:
                yield "comment", comment, line
        comment = None


def substituted(form, names, row):
    """The body of a macro with the values of a row; `...` takes what is left."""
    values = [value.strip() for value in re.findall(r'(?:"[^"]*"|[^,"])+|(?<=,)(?=,)', row)]
    values = dict(zip([name.strip() for name in names.split(",")], values))
    form = re.sub(r"/\*.*?\*/", "", form).strip()
    return re.sub(r"\w+", lambda m: values.get(m.group(0), m.group(0)), re.sub(r"(\w+)##(\w+)", r"\1 ## \2", form)).replace(" ## ", "")


def expanded(source, text):
    """The lists that a type includes are written out."""
    def rows(match):
        macro, names, form, file = match.groups()
        listed = read(source, "runtime/include/pto", file)
        for short, its, full in re.findall(r"^#define (\w+)\(([\w, ]+)\) %s\((.*)\)$" % macro, listed, re.M):
            listed = re.sub(r"^%s\((.*?)\)(?= *(?:/\*|$))" % short, lambda m: "%s(%s)" % (macro, substituted(full, its, m.group(1))), listed, flags=re.M)
        found = re.findall(r"^%s\((.*?)\)( */\*.*?\*/)?$" % macro, listed, re.M)
        return "\n".join("    " + re.sub(r" (?=[;,])", "", substituted(form, names, row)) + re.sub(" +", " ", note) for row, note in found) + "\n"
    return re.sub(r"#define (\w+)\(([^)]*)\) (.*)\n#include <pto/([\w.]+)>\n(?:#undef \w+\n)?", rows, text)


def statuses(source):
    rows = re.findall(r'^PTO_STATUS\((\w+), +(-?\d+), "(.*?)"\)', read(source, "runtime/include/pto/status.def"), re.M)
    return "| status | number | in words |\n|---|---|---|\n" + "\n".join("| `%s` | %s | %s |" % row for row in rows)


def theme(source, header, title, seen):
    text = read(source, "runtime/include/pto", header)
    head = re.match(r"/\*.*?\*/", text, re.S).group(0)
    lines = lines_of(head)
    lines[0] = re.sub(r"^ ?%s - " % re.escape(header), "", lines[0])
    lines[0] = lines[0][:1].upper() + lines[0][1:]
    out = ["## %s" % title, "`#include <pto/%s>`" % header, paragraphs(lines)]
    is_generated = title.startswith("For ")
    for kind, comment, text in items(text[len(head):]):
        if kind == "section":
            out.append("**%s**" % (text[:1].upper() + text[1:]))
        elif kind in ("call", "inline"):
            name = re.search(r"(pto_\w+)\)?\(", text).group(1)
            if name.endswith("_") or name in seen or (kind == "inline" and (is_generated or "Caller" not in (comment or ""))):
                continue
            seen.add(name)
            out.append("### %s\n\n```c\n%s\n```" % (name, declaration(text)))
            if comment:
                out.append(call_text(comment))
        elif kind == "type" and header == "pto_status.h":
            out.append(statuses(source))
        elif kind == "type" and not is_generated:
            out.append("```c\n%s%s\n```" % (comment + "\n" if comment else "", expanded(source, text)))
        elif kind == "comment" and comment.startswith("/* The macros that make"):
            out.append("```text\n%s\n```" % "\n".join(lines_of(comment)).strip())
        elif kind == "comment" and text.startswith("#ifndef __cplusplus") and "PTO_SUBMIT(" in comment:
            out.append(paragraphs(lines_of(comment)))
    return "\n\n".join(part for part in out if part)


def page_of(source):
    seen = set()
    parts = [HEAD] + [theme(source, header, title, seen) + "\n" for header, title in THEMES]
    exported = [line for line in read(source, "test/install/exports.txt").split("\n") if line.startswith("pto_") and not line.endswith("_")]
    return "\n".join(parts), [name for name in exported if name not in seen]


def main():
    source = sys.argv[1]
    path = os.path.join(source, "docs", "c-api.md")
    page, missing = page_of(source)
    if missing:
        sys.exit("no comment for the page of %s" % ", ".join(missing))
    if "--write" in sys.argv:
        with open(path, "w", encoding="utf-8") as f:
            f.write(page)
    elif not os.path.exists(path) or read(path) != page:
        sys.exit("docs/c-api.md is not what the headers say: scripts/api_page.py SOURCE --write makes it")
    print("docs/c-api.md: %d calls" % page.count("\n### "))


main()
