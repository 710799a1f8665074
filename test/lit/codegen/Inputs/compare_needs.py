#!/usr/bin/python3
"""compare_needs.py PTOC FILE ... - no function needs more heap with tasks that are joined than with --plan=apart.

Idea       --emit=bounds prints needs as sizes; they are compared at some extents of the dimension variables.
"""
import re
import subprocess
import sys


class Extents(dict):
    def __missing__(self, name):
        return {"M": 50, "N": 100, "K": 30}.get(name, 40)


def value(text):
    functions = {"ceil_div": lambda a, b: -(-a // b), "max": max, "min": min}
    return eval(re.sub(r" bytes?$", "", text).replace("/", "//"), {}, Extents(functions))


def needs(ptoc, plan, path):
    """[(head of a function, {"need": bytes, ...})]"""
    words = [ptoc, "build", "--emit=bounds", "--plan=" + plan, path]
    functions, name = [], None
    for line in subprocess.run(words, stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout.split("\n"):
        if re.match(r"\S", line):
            functions.append((line, {"need": 0, "peak": 0}))
        found = re.match(r"  (need|safe|peak|or  )  (.*?)(: line.*)?$", line)
        name = None if not found else name if found.group(1) == "or  " else found.group(1)
        if name in ("need", "peak"):
            functions[-1][1][name] = max(functions[-1][1][name], value(found.group(2)))
    return functions


compared = less = 0
for path in sys.argv[2:]:
    for plan in ("ring", "free", "min"):
        joined, apart = needs(sys.argv[1], plan, path), needs(sys.argv[1], plan + ",apart", path)
        assert len(joined) == len(apart)
        for (head, few), (_, many) in zip(joined, apart):
            compared += 1
            less += few["need"] < many["need"]
            for what in few:
                if few[what] > many[what]:
                    print("MORE %s: %s, %s, %d > %d" % (what, plan, head, few[what], many[what]))
print("%d compared, %d need less" % (compared, less))
