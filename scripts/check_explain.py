"""Compiles the programs of docs/explain: the wrong one raises exactly the id of its page, the right one compiles without a message.
Words after ```pto are options of the compiler, which the text of the page has to name; without options `ptoc check` says the same of the
wrong program.

usage: check_explain.py PREFIX SOURCE FOLDER      PREFIX: a build folder; FOLDER: for the programs
"""
import glob
import os
import re
import subprocess
import sys

OF_CHECK = {"E21"}  # raised by ptoc check, before anything is built
WITHOUT_PROGRAMS = {"E99"}  # names what is missing


def compile_one(prefix, path, options, text, verb=("build", "--emit=c")):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    p = subprocess.run([os.path.join(prefix, "bin", "ptoc"), *verb, *options.split(), path, *(["-o", path + ".c"] if len(verb) > 1 else [])], capture_output=True, text=True)
    return p.returncode, re.findall(r"(?:error|warning)\[(\w+)\]", p.stderr), p.stderr


def check_page(prefix, folder, page):
    name = os.path.basename(page)[:-3]
    with open(page, encoding="utf-8") as f:
        text = f.read()
    programs = re.findall(r"^## (Wrong|Right)\n\n```pto([^\n]*)\n(.*?)^```$", text, re.S | re.M)
    kinds = [kind for kind, _, _ in programs]
    if "\n## Fix\n" not in text:
        return ["%s: no section Fix" % name]
    if not programs and name in WITHOUT_PROGRAMS:
        return []
    if kinds != ["Wrong", "Right"]:
        return ["%s: not a wrong program and a right one: %s" % (name, kinds)]
    wrong = []
    code, ids, _ = compile_one(prefix, os.path.join(folder, name + "-wrong.pto"), *programs[0][1:], *([("check",)] if name in OF_CHECK else []))
    if ids != [name] or code != (name[0] == "E"):
        wrong.append("%s: the wrong program raises %s, exit code %d" % (name, ids, code))
    options, program = programs[0][1:]
    if options and "`%s`" % options.strip() not in re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M):
        wrong.append("%s: the text does not name the options%s" % (name, options))
    elif not options:
        _, ids, _ = compile_one(prefix, os.path.join(folder, name + "-checked.pto"), "", program, ("check",))
        if ids != [name]:
            wrong.append("%s: 'ptoc check' of the wrong program raises %s" % (name, ids))
    path = os.path.join(folder, name + "-right.pto")
    code, ids, said = compile_one(prefix, path, *programs[1][1:])
    if code != 0 or said:
        return wrong + ["%s: the right program: exit code %d, %s" % (name, code, said)]
    p = subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                        "-I", os.path.join(prefix, "include"), path + ".c"], capture_output=True, text=True)
    return wrong + (["%s: the C of the right program: %s" % (name, p.stderr)] if p.returncode else [])


def main():
    prefix, source, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    wrong, pages = [], sorted(glob.glob(os.path.join(source, "docs", "explain", "*.md")))
    for page in pages:
        wrong += check_page(prefix, folder, page)
    print("\n".join(wrong) or "%d pages hold" % len(pages))
    return 1 if wrong or not pages else 0


sys.exit(main())
