#!/usr/bin/python3
"""check_reports.py PTOC WIRE FOLDER - --trace, --report and --graph of several ranks show all of them.

Idea       one file has the tasks of the program, each once and with the number that it has on one process, and the messages that --stats counts, each
           as an edge from its send to its receive.  What one process says that a task waits for, it waits for on ranks too, over messages.  A plan
           names the messages of the run.
Exit code  0: yes.
"""
import collections
import json
import os
import re
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from checks import RANKS, Check, follow, read, run  # pylint: disable=wrong-import-position

SIDE, TILES = 128, 4
PROGRAM = """
const T = 32;
kernel product(in a: f32[T, T], in b: f32[T, T], inout c: f32[T, T]) {
    for (int64_t i = 0; i < T; i++) c[i * c_stride[0]] += a[i * a_stride[0]] * b[i * b_stride[0]];
}
kernel half(in a: f32[T, T], out b: f32[T, T]) { for (int64_t i = 0; i < T; i++) for (int64_t j = 0; j < T; j++) b[i * T + j] = a[i * a_stride[0] + j] / 2; }
kernel fail_at(in a: f32[T, T], n: i64, inout c: f32[T, T]) { c[c_stride[0]] += a_stride[0]; c[0] += a[0]; return n == 5 ? 7 : 0; }
export orch multiply<n>(in A: f32[n, n], in B: f32[n, n], inout C: f32[n, n]) {
    view At = A tiled [T, T];
    view Bt = B tiled [T, T];
    view Ct = C tiled [T, T];
    for i in 0 .. n / T { for j in 0 .. n / T { for k in 0 .. n / T { let h = half(At[i, k]); product(h, Bt[k, j], inout Ct[i, j]); } } }
}
export orch multiply_and_look<n>(in A: f32[n, n], in B: f32[n, n], inout C: f32[n, n]) {
    multiply(A, B, inout C);
    let x = await C[0, 0];
    print "done ", x > -100.0;
}
export orch fails<n>(in A: f32[n, n], inout C: f32[n, n]) {
    view At = A tiled [T, T];
    view Ct = C tiled [T, T];
    for i in 0 .. n / T { for j in 0 .. n / T { fail_at(At[j, i], i * (n / T) + j, inout Ct[i, j]); } }
}
"""


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def is_message(task):
    return task["kernel"] in ("send", "recv")


def messages_of(tasks):
    """From and to which rank, and how many bytes, of each message of a graph."""
    by_id = {task["id"]: task for task in tasks}
    return collections.Counter((by_id[edge["task"]]["rank"], task["rank"], edge["bytes"]) for task in tasks for edge in task["after"] if edge["why"] == "message")


def reaches(tasks):
    """Of each task of the program, by number, the numbers of all that it waits for."""
    before, result = {}, {}
    for task in tasks:
        before[task["id"]] = set()
        for edge in task["after"]:
            before[task["id"]] |= before[edge["task"]]
        if "number" in task:
            result[task["number"]] = frozenset(before[task["id"]])
            before[task["id"]] = before[task["id"]] | {task["number"]}
    return result


class Reports(Check):
    def __init__(self, ptoc, wire, folder):
        super().__init__(ptoc, wire, folder, "reports", PROGRAM, SIDE)
        self.inputs = [word for name in "ABC" for word in ("--input", "%s=%s" % (name, self.path(name)))]

    def file(self, name):
        return os.path.join(self.folder, name)

    def results(self, ranks, options, entry="multiply", code=0, launched=True):
        for name in os.listdir(self.folder):
            if name.startswith("shown."):
                os.remove(self.file(name))
        launcher = [sys.executable, RANKS, self.wire, str(ranks)] if ranks > 1 and launched else []
        inputs = self.inputs[:2] + self.inputs[4:] if entry == "fails" else self.inputs
        result = run(launcher + [self.program, "--entry", entry, "--everywhere", "0"] + inputs + options)
        self.expect("%s on %d ranks" % (options, ranks), result[0] == code, *result)
        return result

    def counted(self, out):
        return [int(n) for n in re.findall(r"^(?:Messages|Bytes sent|Messages for the results): (\d+) total", out, re.M)]

    def graph(self, alone, ranks, options, entry="multiply"):
        _, out, _ = self.results(ranks, ["--graph", self.file("shown.json"), "--stats"] + options, entry)
        tasks = load(self.file("shown.json"))["tasks"]
        own = [task for task in tasks if "number" in task]
        self.expect("ids are numbers of the list, and producers stand before", all(task["id"] == n for n, task in enumerate(tasks))
                    and all(edge["task"] < task["id"] for task in tasks for edge in task["after"]))
        self.expect("each task of the program is there once", sorted((t["number"], t["kernel"], t["line"]) for t in own)
                    == [(t["id"], t["kernel"], t["line"]) for t in alone], [(t["number"], t["kernel"]) for t in own])
        self.expect("all ranks have tasks", {t["rank"] for t in own} == set(range(ranks)))
        wanted = reaches([dict(t, number=t["id"]) for t in alone])
        found = reaches(tasks)
        self.expect("what a task waits for", all(wanted[n] <= found[n] for n in wanted), [(n, wanted[n] - found[n]) for n in wanted if not wanted[n] <= found[n]][:3])
        messages = messages_of(tasks)
        counted = self.counted(out)
        self.expect("messages of the graph", sum(messages.values()) == counted[0] + counted[2] and all(a != b for a, b, _ in messages), messages, counted)
        if counted[2] == 0:
            self.expect("bytes of the graph", sum(n * size for (_, _, size), n in messages.items()) == counted[1], messages, counted)
        return messages

    def graphs(self):
        self.results(1, ["--graph", self.file("alone.json"), "--defer"])
        alone = load(self.file("alone.json"))["tasks"]
        self.expect("one rank has no ranks", all("rank" not in task and "number" not in task for task in alone))
        output = ["--output", "C=" + self.file("out.npy")]
        for ranks, options in ((2, output), (3, output + ["--window", "4"]), (3, output + ["--engine", "serial"]), (4, ["--copies", "0"])):
            self.graph(alone, ranks, options)
            self.graph(alone, ranks, options, "multiply_and_look")
        for ranks in (2, 4):
            self.results(ranks, ["--engine", "graph", "--ranks", str(ranks), "--graph", self.file("shown.json")], launched=False)
            planned = load(self.file("shown.json"))["tasks"]
            self.results(ranks, output + ["--graph", self.file("shown.json")])
            messages = messages_of(load(self.file("shown.json"))["tasks"])
            self.expect("a plan names the messages of the run", messages_of(planned) == messages and messages, messages_of(planned), messages)
            self.expect("a plan has the tasks", sorted(t["number"] for t in planned if "number" in t) == [t["id"] for t in alone])

    def other_graphs(self):
        self.results(3, ["--graph", self.file("shown.dot")])
        text = read(self.file("shown.dot")).decode()
        colors = set(re.findall(r'\((\d)\)".*style=filled, fillcolor="(#\w+)"', text))
        self.expect("tasks are coloured by rank", len(colors) == 3 and len({color for _, color in colors}) == 3, colors)
        self.expect("edges of messages have bytes", re.search(r' -> t\d+ \[label="message 4096 bytes", color=purple\];', text), text[:2000])
        self.results(3, ["--graph", self.file("shown.txt")])
        text = read(self.file("shown.txt")).decode()
        self.expect("the text", re.search(r"^\d+ recv on rank [012] \S+:\d+ <- .*\(message 4096 bytes\)", text, re.M)
                    and re.search(r"^\d+ product on rank 2 ", text, re.M), text[:2000])

    def trace(self, ranks, name, entry="multiply", code=0):
        _, out, err = self.results(ranks, ["--trace", self.file(name), "--stats"], entry, code)
        trace = load(self.file(name))
        events = trace["traceEvents"]
        names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        self.expect("a group of rows a rank", sorted(names) == list(range(1, ranks + 1))
                    and all(names[k + 1].startswith("rank %d of %d, " % (k, ranks)) for k in range(ranks)), names)
        self.expect("rows of messages", {e["pid"] for e in events if e["name"] == "thread_name" and e["args"]["name"] == "messages"} == set(names))
        return events, out, err

    def traces(self):
        events, out, _ = self.trace(3, "shown.json")
        tasks = [e for e in events if e["ph"] == "X" and "task" in e.get("args", {})]
        numbers = [e["args"]["number"] for e in tasks if e["name"] not in ("send", "recv", "forget")]
        self.expect("each task once", sorted(numbers) == list(range(2 * TILES ** 3)), len(numbers))
        counted = self.counted(out)
        ends = {phase: {e["id"]: e for e in events if e["ph"] == phase and e.get("cat") == "message"} for phase in "sf"}
        self.expect("an arrow a message", set(ends["s"]) == set(ends["f"]) and len(ends["s"]) == counted[0] + counted[2]
                    and all(ends["s"][k]["pid"] != ends["f"][k]["pid"] for k in ends["s"]), counted, len(ends["s"]), len(ends["f"]))
        sizes = [e["args"]["bytes"] for e in tasks if e["name"] == "send"]
        self.expect("bytes of messages", len(sizes) == counted[0] + counted[2] and all(size > 0 for size in sizes))
        self.expect("times count from the first", all(e["ts"] >= -1000 for e in events if "ts" in e))

    def failures(self):
        """What a run has done until it failed, and what failed, is shown."""
        events, _, err = self.trace(3, "shown.json", "fails", 1)
        self.expect("a failed run has a trace", any(e["name"] == "fail_at" for e in events) and "kernel 'fail_at' failed: it returned 7" in err, err)

    def reports(self):
        for ranks in (1, 3):
            self.results(ranks, ["--report", self.file("shown.html"), "--stats"])
            root = xml.etree.ElementTree.parse(self.file("shown.html")).getroot()
            space = "{http://www.w3.org/1999/xhtml}"
            info = json.loads(next(e.text for e in root.iter(space + "script") if e.get("id") == "info"))
            titles = [e.text for e in root.iter(space + "h2")]
            names = [row.split(": ")[-1] for row in info["rows"]]
            per_rank = len(names) // ranks
            self.expect("rows of %d ranks" % ranks, names[:per_rank] * ranks == names and info["ranks"] == list(range(0, len(names), per_rank))
                        and all(names[r] == "orchestrator" for r in info["ranks"]) and (names[-1] == "messages") == (ranks > 1), info["rows"], info["ranks"])
            kinds = {kind["name"] for kind in info["kinds"]}
            self.expect("kinds of %d ranks" % ranks, {"product", "half"} <= kinds and ({"send", "recv"} <= kinds) == (ranks > 1), kinds)
            self.expect("a row of each wait", len(info["waitRows"]) == len(info["waitKinds"]) and set(info["waitRows"]) <= set(info["ranks"]), info["waitRows"])
            self.expect("tasks of %d ranks" % ranks, info["tasks"] > 2 * TILES ** 3 if ranks > 1 else info["tasks"] == 2 * TILES ** 3, info["tasks"])
            self.expect("what is rank 0's says so", ("Run of rank 0" in titles) == (ranks > 1) and "Timeline" in titles and "Kernels" in titles, titles)

    def refused(self):
        """All ranks show the same."""
        for option, other in (("--trace", "--stats"), ("--graph", "--report")):
            code, _, err = run([sys.executable, RANKS, self.wire, "2", self.program, "--entry", "multiply"] + self.inputs + [option + "=" + self.file("shown.x")],
                               PTO_LOCAL_LAST="%s=%s>--quiet" % (option, self.file("shown.x")))
            self.expect("%s on one rank" % option, code == 2 and "ranks 0 and 1 differ in the option '%s': 1 and 0" % option in err, code, err, other)


if __name__ == "__main__":
    follow(Reports, Reports.graphs, Reports.other_graphs, Reports.traces, Reports.failures, Reports.reports, Reports.refused)
