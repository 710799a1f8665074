"""Runs the blocks of pages about hosts.

usage: run_host_pages.py PREFIX FOLDER PAGE...

A block that begins with ```LANGUAGE FILE is written to that file.  ```sh run and ```python run are executed, in order, and print what the
```text block behind them says, if there is one.  Python blocks of a page share their variables.
"""
import contextlib
import io
import os
import re
import subprocess
import sys

BLOCK = re.compile(r"^```(\w+) (\S+)\n((?:.*\n)*?)```\n(?:```text\n((?:.*\n)*?)```\n)?", re.M)


def run_shell(text, environment):
    done = subprocess.run(["sh", "-e", "-c", text], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=environment)
    return done.stdout.decode(errors="replace") + ("" if done.returncode == 0 else "exit code %d\n" % done.returncode)


def run_python(text, names, place):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, place, "exec"), names)
    return out.getvalue()


def main():
    prefix, folder, *pages = sys.argv[1:]
    prefix, pages = os.path.abspath(prefix), [os.path.abspath(page) for page in pages]
    environment = dict(os.environ, PREFIX=prefix, PATH=os.path.join(prefix, "bin") + ":" + os.environ["PATH"])
    os.environ.update(environment)
    count = 0
    for page in pages:
        here = os.path.join(folder, os.path.basename(page) + ".d")
        os.makedirs(here, exist_ok=True)
        os.chdir(here)
        names = {}
        with open(page) as f:
            text = f.read()
        for m in BLOCK.finditer(text):
            language, what, body, wanted = m.groups()
            place = "%s:%d" % (page, text.count("\n", 0, m.start()) + 1)
            count += 1
            if what != "run":
                with open(what, "w") as f:
                    f.write(body)
                continue
            got = run_python(body, names, place) if language == "python" else run_shell(body, environment)
            if got != (wanted or ""):
                sys.exit("%s: printed\n%s\nwanted\n%s" % (place, got, wanted or ""))
    print("%d blocks hold" % count)


main()
