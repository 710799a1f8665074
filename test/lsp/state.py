#!/usr/bin/python3
"""state.py LIBRARY ... - the front end and the code generator have no data that can be written, but tables that the loader relocates: so a
check leaves nothing behind for the next.
"""
import re
import subprocess
import sys


def main():
    out = subprocess.run(["objdump", "-t"] + sys.argv[1:], capture_output=True, check=True).stdout.decode()
    wrong = []
    for line in out.splitlines():
        symbol = re.match(r"[0-9a-f]+ .{7} (\.(?:data|bss|tdata|tbss)\S*|\*COM\*)\s+([0-9a-f]+) +(.*)$", line)
        if symbol and not symbol.group(1).startswith(".data.rel.ro") and int(symbol.group(2), 16) > 0:
            wrong.append("%s in %s" % (symbol.group(3), symbol.group(1)))
    print("\n".join(wrong) or "no writable data")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
