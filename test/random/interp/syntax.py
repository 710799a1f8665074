"""syntax.py - the text of a .pto file to a tree, for the independent interpreter.

Idea       a lexer by one regular expression and a parser by recursive descent, written from the definition of the language and from
           nothing of the compiler, so that a mistake would have to be made twice to stay hidden.
Owner      program.py keeps the tree that parse() gives, the parts of Run walk it.
Invariant  a node knows the line it began on; names are kept as written.
Tests      test/random/check_programs.py, and every random program
"""
import bisect
import re


class SyntaxFault(Exception):
    def __init__(self, line, text):
        super().__init__("line %d: %s" % (line, text))
        self.line = line


class Node:
    """kind says which; the other attributes are the ones of that kind."""

    def __init__(self, kind, line, **parts):
        self.kind = kind
        self.line = line
        self.__dict__.update(parts)


WORDS = set("""import as const param struct kernel export orch static_assert in out inout acc own host on cost extern where array of
let var view tiled for step while do if else match scope drop return break continue assert print await true false""".split())
BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.S)
TOKEN = re.compile(r"""(?P<float>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)
    |(?P<int>0x[0-9a-fA-F_]+|\d[\d_]*)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<string>"(?:\\.|[^"\\\n])*")
    |(?P<mark>\.\.|\+:|->|=>|\|\||&&|==|!=|<=|>=|<<|>>|[-+*/%!|^&~<>=()\[\]{},;:.@?])""", re.X)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
C_PIECE = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[{}]""", re.S)
LEVELS = [("||",), ("&&",), ("==", "!=", "<", "<=", ">", ">="), ("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*", "/", "%")]
LEVEL_OF = {op: level for level, ops in enumerate(LEVELS) for op in ops}
COMPARE = 2
DIRECTIONS = ("in", "out", "inout", "acc", "own", "host")


class Parser:
    def __init__(self, text):
        self.text = text
        self.starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self.at = 0
        self.advance()

    # ---- words ----
    def advance(self):
        """kind is word (a name), a reserved word or mark itself, int, float, string, or end."""
        self.ended = self.at  # the token that is taken now
        self.at = BLANK.match(self.text, self.at).end()
        self.begin = self.at
        if self.at == len(self.text):
            self.kind = self.value = "end"
            return
        found = TOKEN.match(self.text, self.at)
        if not found:
            raise SyntaxFault(self.line(), "bad character %r" % self.text[self.at])
        self.at = found.end()
        self.kind, self.value = found.lastgroup, found.group()
        if self.kind == "mark" or (self.kind == "word" and self.value in WORDS):
            self.kind = self.value

    def line(self, at=None):
        at = self.begin if at is None else at
        return bisect.bisect_right(self.starts, at)

    def take(self, kind):
        if self.kind != kind:
            raise SyntaxFault(self.line(), "expected %s, found %s" % (kind, self.value))
        value = self.value
        self.advance()
        return value

    def try_take(self, kind):
        if self.kind != kind:
            return False
        self.advance()
        return True

    def list_of(self, rule, close=None):
        """rule { "," rule }, or nothing when what closes the list stands there at once."""
        if close is not None and self.kind == close:
            return []
        items = [rule()]
        while self.try_take(","):
            items.append(rule())
        return items

    # ---- declarations ----
    def program(self):
        items = []
        while self.kind != "end":
            items.append(self.item())
        return items

    def item(self):
        line = self.line()
        kind = self.kind
        if kind == "import":
            self.advance()
            path = self.string()
            name = None
            if self.try_take("as"):
                name = self.take("word")
            self.take(";")
            return Node("import", line, path=path, name=name)
        if kind in ("const", "param"):
            self.advance()
            name = self.take("word")
            type_ = self.type() if self.try_take(":") else None
            value = self.expr() if self.try_take("=") else None
            self.take(";")
            return Node(kind, line, name=name, type=type_, value=value)
        if kind == "struct":
            self.advance()
            name, generics = self.take("word"), self.generics()
            self.take("{")
            fields, hosts = [], set()
            while not self.try_take("}"):
                is_host = self.try_take("host")
                field = self.take("word")
                hosts |= {field} if is_host else set()
                self.take(":")
                fields.append((field, self.type()))
                self.take(";")
            return Node("struct", line, name=name, generics=generics, fields=fields, hosts=hosts)
        if kind in ("kernel", "@"):
            return self.kernel(line)
        if kind in ("export", "orch"):
            export = self.try_take("export")
            self.take("orch")
            name, generics, formals = self.take("word"), self.generics(), self.formals()
            result = self.type() if self.try_take("->") else None
            return Node("orch", line, name=name, generics=generics, formals=formals, result=result, body=self.block(), export=export)
        if kind == "static_assert":
            return self.statement()
        raise SyntaxFault(line, "expected a declaration, found %s" % self.value)

    def kernel(self, line):
        operation = None  # of a work request: what the accelerator does, by its name
        while self.try_take("@"):
            self.take("word")
            self.take("(")
            if self.kind == "string":
                operation = self.string()
            else:  # `@adjoint`: names of kernels, which only a gradient asks for
                self.take("word")
                while self.try_take(","):
                    self.take("word")
            self.take(")")
        self.take("kernel")
        name, elements = self.take("word"), {}
        generics, formals = self.generics(elements), [f for f in self.formals() if f.direction != "scratch"]
        node = Node("kernel", line, name=name, generics=generics, elements=elements, formals=formals, worker=None, cost=None,
                    extern=operation, where=[], body=None)
        while True:
            if self.try_take("on"):
                node.worker = self.take("word")
            elif self.try_take("cost"):
                node.cost = self.expr()
            elif self.try_take("extern"):
                node.extern = self.string()
            elif self.try_take("where"):
                node.where.append(self.expr())
            else:
                break
        if self.kind == "{":
            node.body = self.c_body()
        elif self.try_take("=>"):
            self.c_body()  # equations: kernels.py has what they compute, and strides are no matter
        else:
            self.take(";")
        return node

    def c_body(self):
        begin, depth = self.begin, 0
        for piece in C_PIECE.finditer(self.text, begin):
            depth += {"{": 1, "}": -1}.get(piece.group(), 0)
            if depth == 0:
                self.at = piece.end()
                self.advance()
                return self.text[begin:piece.end()]
        raise SyntaxFault(self.line(), "the C body has no end")

    def generics(self, elements=None):
        """The dimension variables; `elements` gets the classes of element types by their names."""
        names = []

        def generic():
            name = self.take("word")
            if elements is not None and self.try_take(":"):
                elements[name] = self.take("word")
            else:
                names.append(name)
        if self.try_take("<"):
            self.list_of(generic)
            self.take(">")
        return names

    def formals(self):
        self.take("(")
        formals = self.list_of(self.formal, ")")
        self.take(")")
        return formals

    def formal(self):
        line = self.line()
        direction = None
        if self.kind in DIRECTIONS:
            direction = self.kind
            self.advance()
        name = self.take("word")
        if name == "scratch" and self.kind == "word":
            direction, name = name, self.take("word")
        self.take(":")
        type_, by, writes = self.type(), None, None
        if self.value == "by":
            self.advance()
            by = self.member_name()
        elif self.value == "writes":
            self.advance()
            self.take("[")
            writes = self.list_of(self.index)
            self.take("]")
        return Node("formal", line, direction=direction, name=name, type=type_, by=by, writes=writes)

    def type(self):
        line = self.line()
        if self.try_take("array"):
            self.take("[")
            count = self.expr()
            self.take("]")
            self.take("of")
            return Node("array_type", line, count=count, of=self.type())
        module, name, extents = None, self.take("word"), None
        if self.try_take("."):
            module, name = name, self.member_name()
        if self.try_take("["):
            extents = self.list_of(self.dim)
            self.take("]")
        return Node("type", line, module=module, name=name, extents=extents)

    def dim(self):
        line = self.line()
        return Node("decided", line, name=self.take("word")) if self.try_take("?") else self.expr()

    def member_name(self):
        if self.kind != "word" and self.kind not in WORDS:
            raise SyntaxFault(self.line(), "expected a name, found %s" % self.value)
        value = self.value
        self.advance()
        return value

    def string(self):
        text = self.take("string")[1:-1]
        return re.sub(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|.)", self.unescape, text)

    @staticmethod
    def unescape(found):
        code = found.group(1)
        if code[0] == "x":
            return chr(int(code[1:], 16))
        return chr(int(code, 8)) if code[0].isdigit() else ESCAPES.get(code, code)

    # ---- statements ----
    def block(self):
        line = self.line()
        self.take("{")
        body = []
        while not self.try_take("}"):
            body.append(self.statement())
        return Node("block", line, body=body)

    def statement(self):
        line = self.line()
        attributes = []
        while self.try_take("@"):
            name = self.take("word")
            self.take("(")
            attributes.append((name, self.list_of(self.expr)))
            self.take(")")
        rule = getattr(self, "statement_" + self.kind, None) if self.kind in WORDS else None
        node = rule(line) if rule else self.block() if self.kind == "{" else self.simple(line)
        node.attributes = attributes
        return node

    def simple(self, line):
        target = self.postfix()
        value = self.expr() if self.try_take("=") else None
        self.take(";")
        return Node("assign", line, target=target, value=value) if value else Node("call_statement", line, call=target)

    def statement_let(self, line):
        self.advance()
        name = self.take("word")
        type_ = self.type() if self.try_take(":") else None
        value = self.expr() if self.try_take("=") else None
        self.take(";")
        return Node("let", line, name=name, type=type_, value=value)

    def statement_var(self, line):
        node = self.statement_let(line)
        node.kind = "var"
        return node

    def statement_view(self, line):
        self.advance()
        name = self.take("word")
        self.take("=")
        of = self.postfix()
        self.take("tiled")
        self.take("[")
        tile = self.list_of(self.expr)
        self.take("]")
        self.take(";")
        return Node("view", line, name=name, of=of, tile=tile)

    def statement_for(self, line):
        self.advance()
        name = self.take("word")
        self.take("in")
        low = self.expr()
        self.take("..")
        high = self.expr()
        step = self.expr() if self.try_take("step") else None
        return Node("for", line, name=name, low=low, high=high, step=step, body=self.block())

    def statement_while(self, line):
        self.advance()
        return Node("while", line, condition=self.expr(), body=self.block())

    def statement_do(self, line):
        self.advance()
        body = self.block()
        self.take("while")
        condition = self.expr()
        self.take(";")
        return Node("do", line, condition=condition, body=body)

    def statement_if(self, line):
        self.advance()
        condition, yes, no = self.expr(), self.block(), None
        if self.try_take("else"):
            no = self.statement_if(self.line()) if self.kind == "if" else self.block()
        return Node("if", line, condition=condition, yes=yes, no=no)

    def statement_match(self, line):
        self.advance()
        value, arms, other = self.expr(), [], None
        self.take("{")
        while not self.try_take("}"):
            if self.try_take("else"):
                self.take("=>")
                other = self.block()
                self.take("}")
                break
            values = self.list_of(self.expr)
            self.take("=>")
            arms.append((values, self.block()))
        return Node("match", line, value=value, arms=arms, other=other)

    def statement_scope(self, line):
        self.advance()
        if self.kind == "string":
            self.string()
        return self.block()

    def statement_drop(self, line):
        self.advance()
        names = self.list_of(self.postfix)
        self.take(";")
        return Node("drop", line, names=names)

    def statement_return(self, line):
        self.advance()
        value = None if self.kind == ";" else self.expr()
        self.take(";")
        return Node("return", line, value=value)

    def statement_break(self, line):
        self.advance()
        self.take(";")
        return Node("break", line)

    def statement_continue(self, line):
        self.advance()
        self.take(";")
        return Node("continue", line)

    def statement_assert(self, line):
        self.advance()
        condition = self.expr()
        text = self.string() if self.try_take(",") else None
        self.take(";")
        return Node("assert", line, condition=condition, text=text)

    statement_static_assert = statement_assert

    def statement_print(self, line):
        self.advance()
        values = self.list_of(self.expr)
        self.take(";")
        return Node("print", line, values=values)

    # ---- expressions ----
    def expr(self, lowest=0):
        """What is made of operators of the level `lowest` and above, by climbing."""
        left, before = self.unary(), len(LEVELS)
        while LEVEL_OF.get(self.kind, -1) >= lowest:
            level = LEVEL_OF[self.kind]
            if level == before == COMPARE:
                raise SyntaxFault(self.line(), "comparisons do not chain")
            op, line, before = self.kind, self.line(), level
            self.advance()
            begin = self.begin
            left = Node("binary", line, op=op, left=left, right=self.expr(level + 1))
            left.span = self.columns(begin)  # of `right`
        return left

    def columns(self, begin):
        """From there to what was read last."""
        start = self.starts[self.line(begin) - 1]
        return begin - start + 1, self.ended - start + 1

    def unary(self):
        line = self.line()
        if self.kind in ("-", "!", "~"):
            op = self.kind
            self.advance()
            return Node("unary", line, op=op, value=self.unary())
        if self.try_take("await"):
            return Node("await", line, place=self.postfix())
        return self.postfix()

    def postfix(self):
        node = self.primary()
        while True:
            line = self.line()
            if self.try_take("["):
                indices = self.list_of(self.index)
                self.take("]")
                node = Node("index", line, of=node, indices=indices)
            elif self.try_take("."):
                name = self.member_name()
                if name == "permute" and self.try_take("("):
                    node = Node("permute", line, of=node, order=[a.value for a in self.list_of(self.arg, ")")])
                    self.take(")")
                else:
                    node = Node("member", line, of=node, name=name)
            elif self.try_take("as"):
                self.take("[")
                node = Node("reshape", line, of=node, extents=self.list_of(self.expr))
                self.take("]")
            elif self.try_take("("):
                args = self.list_of(self.arg, ")")
                self.take(")")
                node = Node("call", line, callee=node, args=args)
            else:
                return node

    def step(self):
        return self.expr() if self.try_take("step") else None

    def index(self):
        line = self.line()
        if self.try_take(":"):
            return Node("whole", line, step=self.step())
        low = self.expr()
        if self.try_take(".."):
            high = self.expr()
            return Node("range", line, low=low, high=high, step=self.step())
        if self.try_take("+:"):
            width = self.expr()
            return Node("width", line, low=low, width=width, step=self.step())
        return Node("point", line, at=low)

    def arg(self):
        line, begin = self.line(), self.begin
        for direction in ("out", "inout", "acc", "own"):
            if self.try_take(direction):
                return Node("arg", line, direction=direction, value=self.postfix())
        value = self.expr()
        return Node("arg", line, direction=None, value=value, span=self.columns(begin))

    def primary(self):
        line, value = self.line(), self.value
        if self.kind == "string":
            return Node("string", line, value=self.string())
        if self.kind == "int":
            self.advance()
            return Node("number", line, value=int(value.replace("_", ""), 16 if value.startswith("0x") else 10))
        if self.kind == "float":
            self.advance()
            return Node("number", line, value=float(value))
        if self.kind in ("true", "false"):
            self.advance()
            return Node("number", line, value=value == "true")
        if self.try_take("("):
            inner = self.expr()
            self.take(")")
            return inner
        return Node("name", line, name=self.take("word"))


def parse(text):
    return Parser(text).program()
