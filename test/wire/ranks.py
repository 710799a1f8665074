#!/usr/bin/python3
"""ranks.py WIRE N PROGRAM ARGUMENTS... - starts a built program as N ranks, which the wire for tests joins.

Its output is that of all ranks; its exit code is the largest of theirs.  PTO_LOCAL_SEED and PTO_LOCAL_LATEST say how messages are delayed.
PTO_LOCAL_LAST=A>B: where a word of the command is A, it is B for the last rank.  PTO_LOCAL_PEAK names a file: the KiB of memory that the largest rank had at most.
"""
import os
import resource
import subprocess
import sys
import tempfile

LONGEST = 120


def main():
    wire, ranks, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    last = os.environ.get("PTO_LOCAL_LAST", ">").split(">")
    with tempfile.NamedTemporaryFile() as medium:
        processes = []
        for rank in range(ranks):
            here = dict(os.environ, PTO_WIRE=os.path.abspath(wire), PTO_LOCAL_FILE=medium.name, PTO_LOCAL_RANKS=str(ranks),
                        PTO_LOCAL_RANK=str(rank))
            processes.append(subprocess.Popen(command if rank < ranks - 1 else [last[1] if word == last[0] else word for word in command], env=here))
        codes = []
        for process in processes:
            try:
                codes.append(process.wait(LONGEST))
            except subprocess.TimeoutExpired:
                for other in processes:
                    other.kill()
                print("ranks.py: no end after %d s" % LONGEST, file=sys.stderr)
                sys.exit(125)
    if os.environ.get("PTO_LOCAL_PEAK"):
        with open(os.environ["PTO_LOCAL_PEAK"], "w", encoding="ascii") as f:
            f.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
    sys.exit(max(abs(code) for code in codes))


if __name__ == "__main__":
    main()
