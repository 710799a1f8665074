"""expressions.py - the value of an expression: names, operators, built-in functions, await.

Idea       eval() finds the method by the kind of the node; regions.py has those of regions, calls.py calls functions.
Owner      Expressions, a part of Run (run.py).
Invariant  each right side of && and ||, and each arm of a select, is noted as evaluated or left out.
Tests      every random program; test/lit/random/left-out.test
"""
import os

import numpy as np

from . import arithmetic
from .faults import Fault
from .program import Frame, Module, setting
from .values import Grid, Tensor, element_value, narrow, read

BUILTINS = ("min", "max", "abs", "ceil_div", "log2", "sqrt", "dim", "exp", "log", "pow", "sin", "cos", "tanh", "floor",
            "ceil", "round", "select", "i64", "f64", "f32", "bool", "ranks")


class Expressions:
    def value(self, frame, node):
        """A scalar."""
        return read(self.eval(frame, node), node.line)

    def integer(self, frame, node):
        value = self.value(frame, node)
        if isinstance(value, bool) or not isinstance(value, int):
            raise Fault("E02", node.line, "%r is no integer" % (value,))
        return value

    def truth(self, frame, node):
        value = self.value(frame, node)
        if not isinstance(value, (bool, np.bool_)):
            raise Fault("E02", node.line, "%r is no bool" % (value,))
        return bool(value)

    def eval(self, frame, node):
        return getattr(self, "eval_" + node.kind)(frame, node)

    def eval_number(self, frame, node):
        return node.value

    eval_string = eval_number

    # ---- names ----
    def eval_name(self, frame, node):
        value = frame.find(node.name)
        return value if value is not None else self.global_value(frame.module, node.name, node.line)

    def global_value(self, module, name, line):
        """Of a const or a param, evaluated once a run."""
        if (module, name) in self.values:
            return self.values[module, name]
        decl = module.names.get(name)
        if decl is None or isinstance(decl, (list, Module)) or decl.kind not in ("const", "param"):
            raise Fault("E01", line, "unknown name '%s'" % name)
        if decl.kind == "param" and module.prefix + name in self.settings:
            value = self.setting(module.prefix + name, decl.type.name)
        else:
            value = self.value(Frame(module), decl.value)
        if decl.type is not None:
            value = narrow(value, decl.type.name)
        self.values[module, name] = value
        return value

    def setting(self, name, type_):
        return setting(str(self.settings[name]), type_)

    def eval_member(self, frame, node):
        if node.of.kind == "name" and frame.find(node.of.name) is None:
            module = frame.module.names.get(node.of.name)
            if isinstance(module, Module):
                return self.global_value(module, node.name, node.line)
        of = self.eval(frame, node.of)
        if isinstance(of, Tensor):  # .T
            return of.viewed(lambda a: a.swapaxes(-1, -2))
        return of.fields[node.name]

    # ---- operators ----
    def eval_await(self, frame, node):
        return element_value(self.eval(frame, node.place), node.line)

    def eval_unary(self, frame, node):
        return arithmetic.unary(node.op, self.value(frame, node.value), node.line)

    def eval_binary(self, frame, node):
        if node.op in ("&&", "||"):
            decided = self.truth(frame, node.left) == (node.op == "||")
            self.note_optional(frame, node, not decided)
            return node.op == "||" if decided else self.truth(frame, node.right)
        return arithmetic.binary(node.op, self.value(frame, node.left), self.value(frame, node.right), node.line)

    def note_optional(self, frame, node, is_evaluated):
        """What stands at the columns node.span is evaluated here, or left out."""
        noted = self.evaluated if is_evaluated else self.left_out
        noted.add((os.path.basename(frame.module.path), node.line) + node.span)

    # ---- functions ----
    def eval_call(self, frame, node):
        return self.builtin(frame, node) if self.is_builtin(frame, node) else self.call(frame, node)

    @staticmethod
    def is_builtin(frame, node):
        callee = node.callee
        return callee.kind == "name" and callee.name in BUILTINS and callee.name not in frame.module.names

    def builtin(self, frame, node):
        name = node.callee.name
        if name == "ranks":  # it stands in attributes only, which change no result
            return 1
        if name == "dim":
            of, d = self.eval(frame, node.args[0].value), self.integer(frame, node.args[1].value)
            return int((of.shape if isinstance(of, Grid) else of.data.shape)[d])
        if name == "select":
            return self.select(frame, node)
        return arithmetic.function(name, [self.value(frame, a.value) for a in node.args], node.line)

    def select(self, frame, node):
        """Of numbers the type is what they have in common, whichever is chosen."""
        first = self.truth(frame, node.args[0].value)
        for arm, is_chosen in ((node.args[1], first), (node.args[2], not first)):
            self.note_optional(frame, arm, is_chosen)
        value = self.value(frame, node.args[1 if first else 2].value)
        return narrow(value, self.type_of(frame, node))
