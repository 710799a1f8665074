#!/usr/bin/python3
"""ranks.py WIRE N PROGRAM ARGUMENTS... - starts a built program as N ranks, which the wire for tests joins.

Its output is that of all ranks; its exit code is the largest of theirs.  PTO_LOCAL_SEED and PTO_LOCAL_LATEST say how messages are delayed.
PTO_LOCAL_LAST=A>B: where a word of the command is A, it is B for the last rank, or for those from PTO_LOCAL_FROM on.  PTO_LOCAL_PEAK names a file: the KiB of memory that the largest rank had at most.
PTO_LOCAL_UNDER has the words of a command that starts the last rank, such as that of other namespaces.
"""
import os
import resource
import subprocess
import sys
import tempfile

LONGEST = 120
MEMORY, ROOM = "/dev/shm", 1 << 30


def folder():
    """Of the messages: in memory, where there is room; a file on a disk is written while the ranks run, which takes 20 times as long."""
    if not os.access(MEMORY, os.W_OK):
        return None
    room = os.statvfs(MEMORY)
    return MEMORY if room.f_bavail * room.f_frsize >= ROOM else None


def main():
    wire, ranks, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    last = os.environ.get("PTO_LOCAL_LAST", ">").split(">")
    under = os.environ.get("PTO_LOCAL_UNDER", "").split()
    first_other = int(os.environ.get("PTO_LOCAL_FROM", ranks - 1))
    with tempfile.NamedTemporaryFile(dir=folder()) as medium:
        processes = []
        for rank in range(ranks):
            here = dict(os.environ, PTO_WIRE=os.path.abspath(wire), PTO_LOCAL_FILE=medium.name, PTO_LOCAL_RANKS=str(ranks),
                        PTO_LOCAL_RANK=str(rank))
            own = command if rank < first_other else [last[1] if word == last[0] else word for word in command]
            processes.append(subprocess.Popen((under if rank == ranks - 1 else []) + own, env=here))
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
