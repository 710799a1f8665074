"""result_types.py - the type of a scalar expression, without evaluating it: select needs that of the arm it leaves out.

Owner      ResultTypes, a part of Run (run.py).
Invariant  no index is evaluated and no function called: what stands in an arm that is left out may be wrong.
Tests      every random program
"""
from .arithmetic import CASTS, COMPARISONS, REAL, common_type, type_of_number
from .values import Element, Tensor


class ResultTypes:
    def type_of(self, frame, node):
        if node.kind in ("number", "name"):
            return type_of_number(self.eval(frame, node))
        if node.kind == "unary":
            return "bool" if node.op == "!" else self.type_of(frame, node.value)
        if node.kind == "binary":
            return "bool" if node.op in ("&&", "||") + COMPARISONS else self.common(frame, [node.left, node.right])
        if node.kind == "call" and self.is_builtin(frame, node):
            name, args = node.callee.name, [a.value for a in node.args]
            if name in CASTS:
                return name
            if name in ("ceil_div", "dim"):
                return "i64"
            return "f64" if name in REAL else self.common(frame, args[1:] if name == "select" else args)
        if node.kind == "call":
            return frame.module.callee(node.callee).result.name
        of = self.peek(frame, node)
        of = of.tensor if isinstance(of, Element) else of
        if not isinstance(of, Tensor):
            return type_of_number(of)
        return {"f64": "f64", "bool": "bool", "f32": "f32", "f16": "f32", "bf16": "f32"}.get(of.element, "i64")

    def common(self, frame, nodes):
        return common_type([self.type_of(frame, n) for n in nodes])

    def peek(self, frame, node):
        """The tensor or scalar that a place is a part of, whatever its indices are."""
        if node.kind == "await":
            return self.peek(frame, node.place)
        if node.kind == "index":
            return self.peek(frame, node.of)
        if node.kind == "member" and not (node.of.kind == "name" and frame.find(node.of.name) is None):
            return self.peek(frame, node.of).fields[node.name]
        return self.eval(frame, node)
