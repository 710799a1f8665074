"""measure.py - programs of several ranks, timed beside each other.

Idea     Programs alternate, and each is run long and short: the difference is that of the steps, without start and end, and what happens once, such as
         registrations and first touches of memory, is in both.  Figures are medians: processor time of all ranks, their polling included, and wall time."""
import math
import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field

LONGEST, LONGEST_TRIAL = 900, 60  # seconds of one start
TRIALS = 2


class Failed(Exception):
    pass


@dataclass
class Rival:
    name: str
    command: callable               # of a number of steps and of a file for the result, or None
    environment: dict = field(default_factory=dict)
    fewer: int = 1                  # gets so many times fewer steps


def start(rival, count, file=None, longest=LONGEST):
    """Seconds of processors and of the wall."""
    command = ["timeout", "-k", "10", str(longest)] + rival.command(count, file)
    before, since = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with subprocess.Popen(command, env={**os.environ, **rival.environment}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            errors = process.communicate()[1]
        except BaseException:  # `timeout` ends the launcher with it, and the launcher its ranks
            process.terminate()
            raise
    wall, after = time.monotonic() - since, resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode != 0:
        reason = "took more than %d s" % longest if process.returncode == 124 else errors.strip()[-600:]
        raise Failed("%s: %s\n%s" % (rival.name, " ".join(command), reason))
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def steps(rival, count):
    """So many, and an even number, because some programs go from one array to another and back."""
    return max(2, count // rival.fewer // 2 * 2)


def once(rival, long, short, longest=LONGEST):
    """(microseconds of processors, of the wall) a step"""
    short = steps(rival, short)
    long = max(short + 2, steps(rival, long))
    many, few = (start(rival, count, longest=longest) for count in (long, short))
    return tuple((many[i] - few[i]) / (long - short) * 1e6 for i in range(2))


def a_step(rounds, long, short, rivals):
    """{name: (microseconds of processors, of the wall) a step}; a rival that fails has no figure"""
    found = {rival.name: [] for rival in rivals}
    for _ in range(rounds):
        for rival in [rival for rival in rivals if rival.name in found]:
            try:
                found[rival.name].append(once(rival, long, short))
            except Failed as failed:
                print("# no figure of %s" % failed, file=sys.stderr)
                del found[rival.name]
    return {name: tuple(statistics.median(sample[i] for sample in samples) for i in range(2)) for name, samples in found.items()}


def trial(rival, long, short):
    """Microseconds of the wall a step; none for one that fails or takes too long, which is no reason to say so while another does not."""
    try:
        return once(rival, long, short, LONGEST_TRIAL)[1]
    except Failed:
        return math.inf


def best(make, choices, long, short):
    """The options of least wall time, {name: value}: one after the other is tried, with the best of those before it.  Values alternate, and the
    least of TRIALS counts: other work on the machine adds to a time, for a while."""
    chosen = {name: values[0] for name, values in choices.items()}
    for name, values in choices.items():
        if len(values) > 1:
            wall = dict.fromkeys(values, math.inf)
            for value in values * TRIALS:
                wall[value] = min(wall[value], trial(make(**{**chosen, name: value}), long, short))
            chosen[name] = min(wall, key=wall.get)
    return chosen
