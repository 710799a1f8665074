"""pto.py - gdb for programs of ptoc: `source pto.py`, or add it to ~/.gdbinit.

    pto tasks       the tasks in the window: what each waits for, its arguments, the line that submitted it
    pto why TASK    which producers a task has, and which of them have not completed
    pto scopes      the open scopes, and the buffers that each holds
    print arg       an argument of a kernel, a parameter of a submit: f32[64, 64] at A[128 .. 192, 0 .. 64]
    step            a call of a kernel is one step: the submit is stepped over
    backtrace       in a kernel on a worker's thread, ends in the line that submitted the task

Idea       everything is read from the memory of the program, nothing in it is called; so it works on core files too.
Limits     the commands and the backtrace need the debug information of libpto; on the fast path the kernel is called by the submit itself, so
           the backtrace is complete without us.
Tests      test/lit/run/gdb-script.pto
"""
import gdb
from gdb.FrameDecorator import FrameDecorator

TYPES = {}  # number of PTOType -> (name, bytes)
SCALAR = 5  # PTO_PARAM_SCALAR


def element(number):
    if not TYPES:
        for field in gdb.lookup_type("PTOType").strip_typedefs().fields():
            name = field.name.removeprefix("PTO_").lower()
            digits = "".join(c for c in name if c.isdigit())
            TYPES[field.enumval] = (name, int(digits) // 8 if digits else 1)
    return TYPES.get(int(number), ("?", 1))


def string(pointer):
    return pointer.string(errors="replace") if int(pointer) else ""


def constant(name, symbol=None):
    found = gdb.lookup_static_symbol(name) or gdb.lookup_global_symbol(name)
    if not found:
        raise gdb.GdbError(f"libpto has no debug information ({name}): build the program with `ptoc build -g`")
    return found


def thread_local(name):
    """A word of the selected thread, or None where it cannot be read."""
    try:
        return constant(name).value()
    except (gdb.error, gdb.GdbError):
        return None


def mark(field):
    """Of the kernel that the selected thread runs (`struct crash_mark`), or None as above."""
    found = thread_local("ptoi_crash_mark_")
    return found if found is None else found[field]


def in_each_thread():
    """Selects one thread after the other, then the one that was selected."""
    before, frame = gdb.selected_thread(), gdb.selected_frame()
    try:
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            yield thread
    finally:
        before.switch()
        frame.select()


def runtime():
    """The runtime whose run some thread orchestrates."""
    constant("orchestrates")
    for _ in in_each_thread():
        now = thread_local("orchestrates")  # its first member
        if now is not None and int(now):
            return now.cast(gdb.lookup_type("struct PTORuntime").pointer()).dereference()
    raise gdb.GdbError("no thread is in a run")


# ---- regions ----

def named_bases():
    """Tensors that the functions of the program know: address -> name."""
    bases = {}
    for _ in in_each_thread():
        frame = gdb.newest_frame()
        while frame:
            sal = frame.find_sal()
            if sal.symtab and sal.symtab.filename.endswith(".pto"):
                try:
                    block = frame.block()
                except RuntimeError:
                    block = None
                while block and not block.is_global and not block.is_static:
                    for symbol in block:
                        if not symbol.is_variable and not symbol.is_argument:
                            continue
                        try:
                            value = frame.read_var(symbol)
                            kind = str(value.type.strip_typedefs())
                            if value.is_optimized_out:
                                continue
                            if str(value.type) == "PTOView":
                                bases.setdefault(int(value["base"]), symbol.name)
                            elif kind == "void *":
                                bases.setdefault(int(value), symbol.name)
                        except (gdb.error, ValueError):
                            pass
                    block = block.superblock
            frame = frame.older()
    bases.pop(0, None)
    return bases


def region_text(kind, shape, stride, address, base=None, name=None):
    """`f32[64, 64] at A[128 .. 192, 0 .. 64]`; base: where the tensor with that name begins."""
    type_name, unit = element(kind)
    text = f"{type_name}[{', '.join(map(str, shape))}] at "
    if base is None or not name:
        return text + f"{address:#x}"
    rest, parts = (address - base) // unit, []
    for extent, step in zip(shape, stride):
        begin = rest // step if step > 0 and (extent > 1 or step > 1 or rest == 0) else 0
        rest -= begin * step
        parts.append(f"{begin} .. {begin + extent}" if extent != 1 else f"{begin}")
    return text + (f"{name}[{', '.join(parts)}]" if rest == 0 else f"{name} + {(address - base) // unit} elements")


def nearest(address, bases):
    below = [base for base in bases if base <= address]
    return (max(below), bases[max(below)]) if below else (None, None)


class OperandPrinter:
    """A scalar as its value; a tensor as `tensor_text` of the class says."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        scalar = int(self.value["kind"]) == SCALAR
        return str(self.value["value"]["i64"]) if scalar else self.tensor_text(self.value)


class ArgumentPrinter(OperandPrinter):
    """PTOArg: an argument as the kernel receives it."""

    def tensor_text(self, v):
        rank, address = int(v["rank"]), int(v["ptr"])
        shape, stride = ([int(v[part][d]) for d in range(rank)] for part in ("shape", "stride"))
        return region_text(v["type"], shape, stride, address, *self.base(address))

    def base(self, address):
        """Of the argument of the task that this thread runs; else of the tensor of the program that begins nearest before it."""
        kernel, number = mark("kernel"), mark("number")
        try:
            window = Window(runtime()) if kernel is not None and int(kernel) else None
        except gdb.GdbError:
            window = None
        bases = named_bases()
        if window and window.task(int(number)) >= 0:
            for there, base, name in window.bases(window.task(int(number)), bases):
                if there == address:
                    return base, name
        return nearest(address, bases)


class ParameterPrinter(OperandPrinter):
    """PTOTaskParam: a parameter of a submit."""

    def tensor_text(self, v):
        rank, name = int(v["rank"]), string(v["name"]).lstrip("&").removesuffix(".base")
        shape = [int(v["shape"][d]) for d in range(rank)]
        stride = [int(v["stride"][d]) for d in range(rank)] if int(v["stride"]) else [1] * rank
        for d in range(rank - 2, -1, -1):
            if not int(v["stride"]):
                stride[d] = stride[d + 1] * shape[d + 1]
        base = int(v["buffer"])
        return region_text(v["type"], shape, stride, base + int(v["at"]) * element(v["type"])[1], base, name)


class ViewPrinter:
    """PTOView: a tensor as a function of the program has it."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        steps = [int(self.value["s"][d]) for d in range(8)]
        while steps and steps[-1] == 0:
            steps.pop()
        return f"{int(self.value['base']):#x} + {int(self.value['at'])} elements, strides ({', '.join(map(str, steps))})"


def lookup(value):
    printers = {"PTOArg": ArgumentPrinter, "PTOTaskParam": ParameterPrinter, "PTOView": ViewPrinter}
    printer = printers.get(value.type.unqualified().name)
    return printer(value) if printer else None


# ---- the window ----

class Window:
    def __init__(self, rt):
        self.rt, self.core = rt, rt["core"]
        self.w = self.core["window"].dereference()
        self.at = int(self.core["window"])
        self.image = int(constant("ptoi_image_anchor").value().address)

    def ids(self):
        return range(int(self.w["task_tail"]), int(self.w["task_head"]))

    def number(self, task):
        """As messages name the task of this id."""
        return int(self.part(int(self.w["numbers_at"]), "unsigned long")[task & (2 * int(self.w["task_mask"]) + 1)])

    def task(self, number):
        """The id of the task in the window; a fold before it has its number, too.  -1: it is not there."""
        return max((task for task in self.ids() if self.number(task) == number), default=-1)

    def part(self, offset, kind):
        return gdb.Value(self.at + offset).cast(gdb.lookup_type(kind).pointer())

    def slot(self, task):
        return self.part(int(self.w["tasks_at"]), "struct task_slot")[task & int(self.w["task_mask"])]

    def is_done(self, task):
        return task < int(self.w["task_tail"]) or int(
            self.part(int(self.w["completed_at"]), "unsigned long")[task & int(self.w["task_mask"])]) == task + 1

    def named(self, offset, kind):
        return gdb.Value(self.image + int(offset)).cast(gdb.lookup_type(kind).pointer()).dereference() if int(offset) else None

    def kernel(self, task):
        return string(self.named(self.slot(task)["kernel"], "PTOKernel")["name"])

    def producers(self, task):
        slot = self.slot(task)
        deps, mask = self.part(int(self.w["deps_at"]), "unsigned long"), int(self.w["dep_mask"])
        return [int(deps[(int(slot["dep_begin"]) + k) & mask]) for k in range(int(slot["dep_count"]))]

    def place(self, task):
        site = self.named(self.slot(task)["site"], "PTOSite")
        return place_text(site) if site is not None else "?"

    def record(self, buffer):
        return self.core["orch"]["scopes"]["record"][buffer - 1]

    def heads(self, task):
        slot = self.slot(task)
        head = self.part(int(self.w["args_at"]) + (int(slot["arg_begin"]) & int(self.w["arg_mask"])), "struct arg_head")
        return head, int(slot["param_count"])

    def bases(self, task, bases):
        """Of each argument that is a tensor: its address, where the tensor begins that it is in, the name of that."""
        head, count = self.heads(task)
        heap = int(self.core["heap"])
        for i in range(count):
            value, buffer = int(head[i]["value"]), int(head[i]["buffer"])
            if int(head[i]["kind"]) == SCALAR:
                continue
            if not buffer:
                yield value, *nearest(value, bases)
                continue
            record = self.record(buffer)
            yield heap + value, heap + int(record["place"]), string(record["name"]).lstrip("&").removesuffix(".base") or f"buffer {buffer}"

    def arguments(self, task, bases):
        head, count = self.heads(task)
        extent, texts = (head + count).cast(gdb.lookup_type("long").pointer()), []
        places = self.bases(task, bases)
        for i in range(count):
            rank = int(head[i]["rank"])
            shape, stride = [int(extent[d]) for d in range(rank)], [int(extent[rank + d]) for d in range(rank)]
            extent += 2 * rank
            is_scalar = int(head[i]["kind"]) == SCALAR
            texts.append(str(int(head[i]["value"])) if is_scalar else region_text(head[i]["type"], shape, stride, *next(places)))
        return ", ".join(texts)

    def state(self, task, running):
        if self.is_done(task):
            return "completed"
        if self.number(task) in running:
            return f"runs on thread {running[self.number(task)]}"
        waits = [str(self.number(p)) for p in self.producers(task) if not self.is_done(p)]
        return f"waits for {', '.join(waits)}" if waits else "ready"


def place_text(site):
    if not int(site.address):
        return "?"
    column = int(site["column"]) & ~(1 << 30)
    return f"{string(site['file'])}:{int(site['line'])}" + (f":{column}" if column else "")


def running_tasks():
    running = {}
    for thread in in_each_thread():
        kernel = mark("kernel")
        if kernel is not None and int(kernel):
            running[int(mark("number"))] = thread.num
    return running


class Pto(gdb.Command):
    """What the run of a program of ptoc is doing: pto tasks, pto why TASK, pto scopes."""

    def __init__(self):
        super().__init__("pto", gdb.COMMAND_DATA, prefix=True)


class Tasks(gdb.Command):
    """The tasks that have been submitted and have not retired, the oldest first."""

    def __init__(self):
        super().__init__("pto tasks", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        window, bases, running = Window(runtime()), named_bases(), running_tasks()
        for task in window.ids():
            print(f"{window.number(task):6} {window.kernel(task)}({window.arguments(task, bases)}), {window.place(task)}: "
                  f"{window.state(task, running)}")
        if not window.ids():
            print("no task is in the window: all that were submitted have completed, or are executed inline")


class Why(gdb.Command):
    """pto why TASK: what a task waits for, with its arguments and those of its producers."""

    def __init__(self):
        super().__init__("pto why", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        window, bases, running = Window(runtime()), named_bases(), running_tasks()
        task = window.task(int(gdb.parse_and_eval(argument or "-1")))
        if task not in window.ids():
            raise gdb.GdbError(f"task {argument} is not in the window: it has completed, or was not submitted")
        print(f"task {window.number(task)}, {window.kernel(task)}({window.arguments(task, bases)}), {window.place(task)}: "
              f"{window.state(task, running)}")
        for producer in window.producers(task):
            if producer in window.ids():
                print(f"  after {window.number(producer)}, {window.kernel(producer)}({window.arguments(producer, bases)}), "
                      f"{window.place(producer)}: {window.state(producer, running)}")
            else:
                print(f"  after {window.number(producer)}: completed")


class Scopes(gdb.Command):
    """The open scopes, the outermost first, with the buffers that they hold."""

    def __init__(self):
        super().__init__("pto scopes", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        rt = runtime()
        window, scopes = Window(rt), rt["core"]["orch"]["scopes"]
        for number in range(int(scopes["depth"])):
            scope = scopes["scope"][number]
            site = scope["site"].dereference() if int(scope["site"]) else None
            print(f"{number}: " + (f"{string(site['text'])}, {place_text(site)}" if site is not None else "the run"))
            buffer = int(scope["first"])
            while buffer:
                record = window.record(buffer)
                made = f", made at {place_text(record['site'].dereference())}" if int(record["site"]) else ""
                print(f"   buffer {buffer} '{string(record['name']).lstrip('&')}': {int(record['bytes'])} bytes{made}")
                buffer = int(record["next"])


# ---- frames ----

class SubmitFrame(FrameDecorator):
    """The line that submitted the task, where a worker's frames would stand."""

    def __init__(self, below, site, number):
        super().__init__(below)
        self.site, self.number = site, number

    def function(self):
        return f"[task {self.number}, submitted here]"

    def filename(self):
        return string(self.site["file"])

    def line(self):
        return int(self.site["line"])

    def address(self):
        return None

    def frame_args(self):
        return []

    def frame_locals(self):
        return []


class KernelFrames:
    """The frames of a kernel that a worker runs, then the line of its submit."""

    def __init__(self):
        self.name, self.priority, self.enabled = "pto", 100, True
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        frames = list(frames)
        kernel, site = mark("kernel"), mark("site")
        if kernel is None or not int(kernel) or site is None or not int(site):
            return iter(frames)
        for n, frame in enumerate(frames[1:], 1):
            if (frame.inferior_frame().name() or "").startswith(("ptoi_", "sim_run")):
                end = n
                break
        else:
            return iter(frames)
        return iter(frames[:end] + [SubmitFrame(frames[end].inferior_frame(), site.dereference(), int(mark("number")))])


gdb.pretty_printers.insert(0, lookup)
Pto(), Tasks(), Why(), Scopes(), KernelFrames()
for skipped in ("-rfu ^pto_", "-rfu ^ptoi_", "-gfi */pto/*.h", "-gfi */pto/detail/*.h"):
    gdb.execute(f"skip {skipped}", to_string=True)
