"""operators.py - the changes that make a mutant of a C file: each is one token or one statement of one line in one function.

Idea       a tokenizer and the house style are enough: operators of two operands have a space on both sides, a call that is a statement
           of its own stands on one line.  A change never adds or removes a line.
Owner      mutants(text) yields Mutant(function, operator, old line, new line, which of the equal lines of that function).
Invariant  preprocessor lines, comments, strings and checks of our own invariants are never changed.
Tests      self_test.py
"""
import collections
import re

Mutant = collections.namedtuple("Mutant", "function operator old new nth")
Token = collections.namedtuple("Token", "text begin end kind")

TOKEN = re.compile(r"""(?P<space>\s+|\\\n)|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<directive>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
                       |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?P<number>\d[\w.]*)|(?P<name>[A-Za-z_]\w*)
                       |(?P<mark><<=|>>=|->|\+\+|--|&&|\|\||[-+*/%&|^=!<>]=|<<|>>|.)""", re.S | re.X | re.M)

COMPARE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<<": ">>", ">>": "<<", "+=": "-=", "-=": "+="}
LOGIC = {"&&": "||", "||": "&&", "|=": "&=", "&=": "|="}
ORDER = {"store_release": "store_relaxed", "load_acquire": "load_relaxed", "store_seq": "store_release", "load_seq": "load_acquire",
         "swap_acquire": "swap_relaxed", "swap_acq_rel": "swap_acquire", "swap_if_acquire": "swap_if_relaxed", "swap_if_release": "swap_if_relaxed"}
JOIN = re.compile(r"^(?!pthread_)(\w+_)?(join|meet|merge|unite)(_\w+)?$")
# A call without effect on a run: memory goes back, a debugger looks, an invariant of our own is checked.
KEPT_CALLS = re.compile(r"^(CHECK\w*|TRACE|PTO_LABEL|free|vec_free|strbuf_free|fclose|close|munmap|abort|va_end|va_start|pto_relax|sizeof|assert\w*)$")
SKIPPED_LINES = re.compile(r"^\s*(CHECK\w*\(|_Static_assert|static_assert|TRACE\()")


def tokens_of(text):
    return [Token(m.group(0), m.start(), m.end(), m.lastgroup) for m in TOKEN.finditer(text)
            if m.lastgroup not in ("space", "comment", "directive")]


def functions_of(tokens):
    """(name, first token, last token) of every body at the top of the file."""
    depth = parens = 0
    begin, start = 0, None
    for i, t in enumerate(tokens):
        if t.text == "{":
            if depth == 0:
                start = name_before(tokens[begin:i]), i
            depth += 1
        elif t.text == "}":
            depth -= 1
            if depth == 0:
                if start and start[0]:
                    yield start[0], start[1], i
                begin = i + 1
        elif depth == 0 and t.text in "()":
            parens += 1 if t.text == "(" else -1
        elif depth == 0 and parens == 0 and t.text == ";":
            begin = i + 1


def name_before(head):
    """The function whose head this is; None: a struct, an enum, an initializer."""
    if any(t.text == "=" for t in head):
        return None
    for a, b in zip(head, head[1:]):
        if a.kind == "name" and b.text == "(" and not a.text.startswith("__") and a.text not in ("aligned", "_Alignas"):
            return a.text
    return None


def closing(tokens, i):
    """The index of the bracket that closes the one at i."""
    depth = 0
    for k in range(i, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[k].text, 0)
        if depth == 0:
            return k
    return len(tokens) - 1


def changes(text, tokens, first, last):
    """(begin, end, new text, operator) of each change in one body."""
    spaced = lambda t: text[t.begin - 1:t.begin] == " " and text[t.end:t.end + 1] in (" ", "\n")
    for i in range(first, last):
        t, before, after = tokens[i], tokens[i - 1], tokens[i + 1]
        if t.kind == "mark" and spaced(t):
            for table, operator in ((COMPARE, "compare"), (ARITHMETIC, "arithmetic"), (LOGIC, "logic")):
                if t.text in table:
                    yield t.begin, t.end, table[t.text], operator
        elif t.kind == "mark" and t.text == "!" and after.text != "=":
            yield t.begin, t.end, "", "negate"
        elif t.kind == "number" and re.fullmatch(r"0|[1-9]\d*|0x[0-9a-f]+", t.text):
            n = int(t.text, 0)
            yield t.begin, t.end, "0" if n == 1 else str(n + 1), "constant"
        elif t.text in ("true", "false"):
            yield t.begin, t.end, "false" if t.text == "true" else "true", "constant"
        elif t.text in ("if", "while") and after.text == "(" and not (t.text == "while" and before.text == "}"):
            end = closing(tokens, i + 1)
            condition = text[after.end:tokens[end].begin]
            if "\n" not in condition and condition not in ("true", "1"):
                yield after.begin, tokens[end].end, "(!(%s))" % condition, "negate"
        elif t.text in ORDER and after.text == "(":
            yield weaker(text, tokens, i)
        elif t.text in ("break", "continue") and after.text == ";" and before.text != ":":
            yield t.begin, t.end, "(void)0", "drop"
        if t.kind == "name" and after.text == "(" and before.text in (";", "{", "}", ")", "else") and not KEPT_CALLS.match(t.text) \
                and t.text not in ("if", "for", "while", "switch", "return"):
            end = closing(tokens, i + 1)
            if tokens[end + 1].text == ";" and "\n" not in text[t.begin:tokens[end].end] and not (before.text == ")" and in_for(tokens, i)):
                yield t.begin, tokens[end].end, "(void)0", "join" if JOIN.match(t.text) else "drop"


def weaker(text, tokens, i):
    """The access at token i in the next weaker order; one that is relaxed has no label, which is the last argument."""
    name, end = ORDER[tokens[i].text], closing(tokens, i + 1)
    arguments = text[tokens[i].end:tokens[end].begin]
    if name.endswith("_relaxed"):
        arguments = arguments[:arguments.rindex(",")]
    return tokens[i].begin, tokens[end].begin, name + arguments, "order"


def in_for(tokens, i):
    """Does the `)` before token i close a cast, and not an if, for or while?"""
    depth = 0
    for k in range(i - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(tokens[k].text, 0)
        if depth == 0:
            return tokens[k - 1].text not in ("if", "for", "while")
    return True


def mutants(text):
    tokens = tokens_of(text)
    for name, first, last in functions_of(tokens):
        seen = collections.Counter()   # how many lines of the body were equal to this one so far
        number = {}
        for at in line_starts(text, tokens[first].begin, tokens[last].end):
            line = line_at(text, at)
            seen[line] += 1
            number[at] = seen[line]
        for begin, end, new, operator in changes(text, tokens, first, last):
            at = text.rfind("\n", 0, begin) + 1
            stop = text.find("\n", at)
            line = text[at:stop]
            if SKIPPED_LINES.match(line) or at not in number or end > stop:
                continue
            changed = line[:begin - at] + new + line[end - at:]
            yield Mutant(name, operator, line.strip(), changed.strip(), number[at])


def line_starts(text, begin, end):
    at = text.rfind("\n", 0, begin) + 1
    while at < end:
        yield at
        at = text.find("\n", at) + 1
        if at == 0:
            return


def line_at(text, at):
    return text[at:text.find("\n", at) if "\n" in text[at:] else len(text)].strip()
