"""control.py - the order in which statements run: blocks, loops, branches, jumps.

Idea       a statement gives None, or why the block ends: BREAK, CONTINUE, or ("return", value).
Owner      Control, a part of Run (run.py).
Invariant  every statement and every iteration of a loop without a bound takes one of the steps that a program may take.
Tests      every random program
"""
import os

from .faults import Fault, TooLong
from .values import read

BREAK, CONTINUE = object(), object()


class Control:
    def block(self, frame, block):
        frame.blocks.append({})
        result = None
        for statement in block.body:
            result = self.execute(frame, statement)
            if result is not None:
                break
        frame.blocks.pop()
        return result

    def execute(self, frame, node):
        self.take_step()
        self.lines.add((os.path.basename(frame.module.path), node.line))
        for _, values in getattr(node, "attributes", ()):
            for value in values:
                self.value(frame, value)
        return getattr(self, "run_" + node.kind)(frame, node)

    def take_step(self):
        self.steps -= 1
        if self.steps < 0:
            raise TooLong()

    def run_block(self, frame, node):
        return self.block(frame, node)

    def run_for(self, frame, node):
        low, high = self.integer(frame, node.low), self.integer(frame, node.high)
        step = self.integer(frame, node.step) if node.step else 1
        if step == 0:
            raise Fault("E15", node.line, "the step is 0")
        for i in range(low, high, step):
            frame.blocks.append({node.name: i})
            result = self.block(frame, node.body)
            frame.blocks.pop()
            if result is BREAK:
                break
            if result is not None and result is not CONTINUE:
                return result
        return None

    def run_while(self, frame, node):
        while self.truth(frame, node.condition):
            self.take_step()
            result = self.block(frame, node.body)
            if result is BREAK:
                break
            if result is not None and result is not CONTINUE:
                return result
        return None

    def run_do(self, frame, node):
        while True:
            self.take_step()
            result = self.block(frame, node.body)
            if result is BREAK:
                return None
            if result is not None and result is not CONTINUE:
                return result
            if not self.truth(frame, node.condition):
                return None

    def run_if(self, frame, node):
        if self.truth(frame, node.condition):
            return self.block(frame, node.yes)
        return self.execute(frame, node.no) if node.no else None

    def run_match(self, frame, node):
        value = self.value(frame, node.value)
        for values, body in node.arms:
            if any(self.value(frame, v) == value for v in values):
                return self.block(frame, body)
        return self.block(frame, node.other) if node.other else None

    def run_return(self, frame, node):
        return ("return", None if node.value is None else read(self.eval(frame, node.value), node.line))

    def run_break(self, frame, node):
        return BREAK

    def run_continue(self, frame, node):
        return CONTINUE
