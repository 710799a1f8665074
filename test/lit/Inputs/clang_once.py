"""clang_once.py COMMAND ... -- FILE ... - clang's check of many files in one process; the driver starts one for each, which takes twice as long.

COMMAND is the driver's, with -fsyntax-only and without a file; -### prints what the driver would start, and that accepts every file.
The exit code is not 0 where a file has an error or a warning; the messages name the file."""
import shlex
import subprocess
import sys


def command(driver, files):
    done = subprocess.run([*driver, "-###", str(files[0])], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    words = shlex.split(done.stderr.decode().strip().split("\n")[-1])
    if "-cc1" not in words or words[-1] != str(files[0]) or "-fsyntax-only" not in words:
        sys.exit("clang would start " + shlex.join(words))
    name = words.index("-main-file-name")
    return words[:name] + words[name + 2:-1] + [str(f) for f in files]


if __name__ == "__main__":
    end = sys.argv.index("--")
    sys.exit(subprocess.run(command(sys.argv[1:end], sys.argv[end + 1:])).returncode)
