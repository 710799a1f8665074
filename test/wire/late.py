#!/usr/bin/python3
"""late.py SECONDS PROGRAM ARGUMENTS... - the program, whose standard error is so slow on rank 0 that its first line leaves after some seconds: as it is on a machine with
much other work.

A launcher starts it as each rank.  Standard error is a pipe that is full, and another process begins to read it after this time.
"""
import os
import sys
import time

NUMBERS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PTO_LOCAL_RANK")


def fill(pipe):
    filled = 0
    os.set_blocking(pipe, False)
    for part in (4096, 1):
        try:
            while True:
                filled += os.write(pipe, b"." * part)
        except BlockingIOError:
            pass
    os.set_blocking(pipe, True)
    return filled


def pass_on(pipe, skipped, seconds):
    time.sleep(seconds)
    while True:
        part = os.read(pipe, 4096)
        if not part:
            break
        os.write(2, part[skipped:])
        skipped -= min(skipped, len(part))


def main():
    rank = next((os.environ[name] for name in NUMBERS if name in os.environ), "0")
    if rank == "0":
        reads, writes = os.pipe()
        filled = fill(writes)
        if os.fork() == 0:
            os.close(writes)
            pass_on(reads, filled, float(sys.argv[1]))
            os._exit(0)
        os.close(reads)
        os.dup2(writes, 2)
        os.close(writes)
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
