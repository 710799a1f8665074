"""half_point.py - the length of a task from which half of the time is useful: METG(50 %)"""
import math


def half_point(lengths, efficiency):
    """The length at which the efficiency passes 50 % for good, between lengths by logarithm; None: never."""
    for i in range(len(lengths) - 1, -1, -1):
        if not efficiency[i] >= 0.5:
            if i + 1 == len(lengths):
                return None
            span = math.log(lengths[i + 1] / lengths[i])
            share = (0.5 - efficiency[i]) / (efficiency[i + 1] - efficiency[i]) if efficiency[i] == efficiency[i] else 1
            return lengths[i] * math.exp(span * share)
    return lengths[0]
