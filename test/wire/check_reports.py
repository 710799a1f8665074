#!/usr/bin/python3
"""check_reports.py PTOC WIRE FOLDER - --trace, --report and --graph of several ranks show all of them; --record and --replay have a file a rank.

Idea       one file has the tasks of the program, each once and with the number that it has on one process, and the messages that --stats counts, each
           as an edge from its send to its receive.  What one process says that a task waits for, it waits for on ranks too, over messages.  A plan
           names the messages of the run.
Exit code  0: yes.
"""
import collections
import json
import os
import re
import socket
import subprocess
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
export orch back_and_forth<n>(inout C: f32[n, n]) {
    view Ct = C tiled [T, T];
    for i in 0 .. n / T - 1 { fail_at(Ct[0, i], 0, inout Ct[0, i + 1]); }
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

    def results(self, ranks, options, entry="multiply", code=0, launched=True, **variables):
        for name in os.listdir(self.folder):
            if name.startswith("shown."):
                os.remove(self.file(name))
        launcher = [sys.executable, RANKS, self.wire, str(ranks)] if ranks > 1 and launched else []
        inputs = {"fails": self.inputs[:2] + self.inputs[4:], "back_and_forth": self.inputs[4:]}.get(entry, self.inputs)
        result = run(launcher + [self.program, "--entry", entry, "--everywhere", "0"] + inputs + options, **variables)
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

    def trace(self, ranks, name, entry="multiply", code=0, **variables):
        _, out, err = self.results(ranks, ["--trace", self.file(name), "--stats"], entry, code, **variables)
        trace = load(self.file(name))
        events = trace["traceEvents"]
        names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        host = socket.gethostname()[:63]
        self.expect("a group of rows a rank, with its host", sorted(names) == list(range(1, ranks + 1))
                    and all(names[k + 1].startswith("rank %d of %d, %s (" % (k, ranks, host)) for k in range(ranks)), names)
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

    def other_clocks(self):
        """The clock of the last rank is ahead by an hour, and the times of one trace are those of one clock all the same."""
        under = ["unshare", "--map-root-user", "--time", "--fork", "--kill-child", "--monotonic", "3600"]
        if subprocess.run(under + ["true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            print("the clock of a rank: not tried, as this system gives no process another one")
            return
        events, _, _ = self.trace(3, "shown.json", PTO_LOCAL_UNDER=" ".join(under))
        times = {rank: [e["ts"] for e in events if e["ph"] == "X" and e["pid"] == rank] for rank in (1, 2, 3)}
        self.expect("tasks of each rank", all(times.values()), times)
        self.expect("times of one clock", max(map(max, times.values())) - min(map(min, times.values())) < 1800e6, times)

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

    def names(self):
        """A schedule needs a name, and no other result has that of the schedule of a rank."""
        one, other = self.file("w.npy"), os.path.join(self.folder, ".", "w.npy.1")
        if os.path.exists(other):
            os.remove(other)
        for options, text in ((["--record", one, "--output", "C=" + other], "--record and --output C write one file, %s.1" % one),
                              (["--record", one, "--trace", other], "--trace and --record write one file, %s.1" % one),
                              (["--record", "-"], "--record -: each rank writes a file of its own, FILE.0, FILE.1 and so on, so a name is needed")):
            _, out, err = self.results(2, options, code=2)
            self.expect("names: %s" % options, err == "error: %s\n" % text and out == "" and not os.path.exists(other) and not os.path.exists("-.0"), out, err)
        self.results(2, ["--record", one, "--output", "C=" + one + ".2", "--trace", one])

    def schedule(self, rank, name="s"):
        """Its first line, and the tasks of each worker in their order; -1: messages."""
        lines = read(self.file("%s.%d" % (name, rank))).decode().splitlines()
        rows = collections.defaultdict(list)
        for line in lines[1:]:
            task, worker = map(int, line.split())
            rows[worker].append(task)
        return lines[0], dict(rows)

    def write_schedule(self, name, rank, head, rows):
        with open(self.file("%s.%d" % (name, rank)), "w", encoding="ascii") as f:
            f.write("\n".join([head] + ["%d %d" % (task, worker) for worker, tasks in sorted(rows.items()) for task in tasks]) + "\n")

    def schedules(self):
        """Each rank repeats its own: the same starts on the same workers, or those that its file says."""
        workers, ranks = ["--workers", "cube=1,vector=2", "--output", "C=" + self.file("out.npy")], 3
        self.results(1, workers[:2] + ["--output", "C=" + self.file("alone.npy")])
        for options in ([], ["--window", "4"], ["--copies", "0", "--sends", "1"]):
            self.results(ranks, workers + options + ["--record", self.file("s")])
            recorded = [self.schedule(k) for k in range(ranks)]
            kernels = [{w: tasks for w, tasks in rows.items() if w >= 0} for _, rows in recorded]
            self.expect("a file a rank", len({head.split(", run ")[1] for head, _ in recorded}) == 1 and not os.path.exists(self.file("s"))
                        and all(head.startswith("pto schedule 1, rank %d of %d, run " % (k, ranks)) for k, (head, _) in enumerate(recorded)), recorded)
            self.expect("all tasks", sum(len(tasks) for rows in kernels for tasks in rows.values()) == 2 * TILES ** 3 and all(-1 in rows for _, rows in recorded), kernels)
            self.results(ranks, workers + options + ["--replay", self.file("s"), "--record", self.file("r")])
            again = [{w: tasks for w, tasks in self.schedule(k, "r")[1].items() if w >= 0} for k in range(ranks)]
            self.expect("the same schedules with %s" % options, again == kernels, kernels, again)
            self.expect("the same results", read(self.file("out.npy")) == read(self.file("alone.npy")))
        one = []
        for k, (head, rows) in enumerate(recorded):  # all on the last worker that has one, in the order of the program
            last = max(rows)
            one.append({last: sorted(task for worker, tasks in rows.items() if worker >= 0 for task in tasks)})
            self.write_schedule("o", k, head, {-1: rows[-1], last: one[k][last]})
        self.results(ranks, workers + options + ["--replay", self.file("o"), "--record", self.file("r")])
        again = [{w: tasks for w, tasks in self.schedule(k, "r")[1].items() if w >= 0} for k in range(ranks)]
        self.expect("the schedule of the file", again == one, one, again)
        self.expect("the same results on one worker", read(self.file("out.npy")) == read(self.file("alone.npy")))

    def other_schedules(self):
        """What does not belong together is refused, and what does not fit the run fails; nobody waits for ever."""
        workers = ["--workers", "cube=1,vector=2"]
        replay = workers + ["--replay", self.file("s")]
        self.results(3, workers + ["--record", self.file("s")])
        recorded = [self.schedule(k) for k in range(3)]
        for wrong, text, code in ((dict(head="pto schedule 1"), "s.1:1: not the schedule of one of several ranks", 4),
                                  (dict(head=recorded[2][0]), "s.1:1: the schedule of another rank", 4),
                                  (dict(head=recorded[1][0] + "0"), "the schedules of the ranks are of different runs", 4),
                                  (dict(rows={}), "the schedule %s does not fit this run" % self.file("s.1"), 4)):
            self.write_schedule("s", 1, wrong.get("head", recorded[1][0]), wrong.get("rows", recorded[1][1]))
            _, _, err = self.results(3, replay, code=code)
            self.expect("refused: " + text, err.count(text) == 1, err)
        self.results(2, workers + ["--record", self.file("s")], "back_and_forth")  # rank 1 begins, and receives what rank 0 makes of it
        self.write_schedule("s", 1, self.schedule(1)[0], {})
        _, _, err = self.results(2, replay + ["--grace", "0.2"], "back_and_forth", code=4)
        self.expect("ranks that wait for each other", "nothing has happened on any rank for 10 s, so the schedules do not fit this run" in err
                    and "\n  rank 0: waits for a message from rank 1, for task 1 at " in err and "\n  rank 1: waits for a message from rank 0, for task 2 at " in err, err)
        self.results(3, workers + ["--record", self.file("s")])
        recorded = [self.schedule(k) for k in range(3)]
        os.remove(self.file("s.1"))
        _, _, err = self.results(3, replay, code=4)
        self.expect("a file is missing", "cannot read the schedule %s" % self.file("s.1") in err and "(on rank 1, " in err, err)
        _, _, err = self.results(2, workers + ["--replay", self.file("s")], code=4)
        self.write_schedule("s", 1, *recorded[1])
        _, _, err = self.results(1, workers + ["--replay", self.file("s.1")], code=4)
        self.expect("alone", "s.1:1: the schedule of one of several ranks" in err, err)


if __name__ == "__main__":
    follow(Reports, Reports.graphs, Reports.other_graphs, Reports.traces, Reports.other_clocks, Reports.failures, Reports.reports, Reports.refused, Reports.names, Reports.schedules,
           Reports.other_schedules)
