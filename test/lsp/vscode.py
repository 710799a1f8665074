#!/usr/bin/python3
"""vscode.py PTOC SOURCE - vscode.js in a VS Code without a screen; exit code 77 where a part of it is missing.

Needs      code-server, which is VS Code with a browser as its window, and chromium, both on the PATH; for Node, playwright-core (NODE_PATH
           says where); and the extension as `npm run package` leaves it in editor/vscode.
"""
import glob
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import zipfile

# The process that is the server leaves its number.
WRAPPER = '#!/bin/sh\necho $$ >> "%s"\nexec "%s" "$@"\n'


def missing(package):
    """What is not there; None: all is."""
    for program in ("node", "code-server", "chromium"):
        if not shutil.which(program):
            return program
    if subprocess.run(["node", "-e", "require('playwright-core')"], capture_output=True).returncode:
        return "playwright-core"
    return None if package else "packed extension"


def is_stale(package, source):
    """The extension was packed before one of its files was changed."""
    with zipfile.ZipFile(package) as z:
        for name in ("extension.js", "package.json", "syntaxes/pto.tmLanguage.json", "language-configuration.json"):
            with open(os.path.join(source, "editor", "vscode", name), "rb") as f:
                if z.read("extension/" + name) != f.read():
                    return True
    return False


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    ptoc, source = os.path.abspath(sys.argv[1]), sys.argv[2]
    package = max(glob.glob(os.path.join(source, "editor", "vscode", "*.vsix")), key=os.path.getmtime, default=None)
    what = missing(package)
    if what:
        print("there is no " + what)
        return 77
    if is_stale(package, source):
        print("the extension has to be packed again")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        work, wrapper, pids = (os.path.join(folder, name) for name in ("work", "ptoc", "pids"))
        os.mkdir(work)
        with open(wrapper, "w") as f:
            f.write(WRAPPER % (pids, ptoc))
        os.chmod(wrapper, 0o755)
        env = {**os.environ, "HOME": folder}
        server = ["code-server", "--user-data-dir", os.path.join(folder, "data"), "--extensions-dir", os.path.join(folder, "extensions")]
        subprocess.run([*server, "--install-extension", package], env=env, check=True, stdout=subprocess.DEVNULL)
        port = free_port()
        host = subprocess.Popen([*server, "--auth", "none", "--bind-addr", "127.0.0.1:%d" % port, "--disable-telemetry",
                                 "--disable-update-check", "--disable-workspace-trust"], env=env, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vscode.js")
        try:
            return subprocess.run(["node", script, "http://127.0.0.1:%d/" % port, shutil.which("chromium"), folder], timeout=600).returncode
        finally:
            host.terminate()
            host.wait(60)


if __name__ == "__main__":
    sys.exit(main())
