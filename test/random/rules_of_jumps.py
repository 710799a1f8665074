"""rules_of_jumps.py - rules about what was written or dropped, broken on one path through `continue`, `break` or `return`.

Owner      rows of rules.RULES and rules.DECLARATIONS.
Tests      break_rules.py
"""
from rules import DECLARATIONS, rule


def loop_of(p, body, times=3):
    """A loop of one of the three kinds around the lines; `{i}` is a number that grows in it."""
    i, kind = p.name(), p.rng.choice(["for", "while", "do"])
    heads = {"for": ["for %s in 0 .. %d {" % (i, times)], "while": ["var %s = 0;" % i, "while %s < %d {" % (i, times), "  %s = %s + 1;" % (i, i)],
             "do": ["var %s = 0;" % i, "do {", "  %s = %s + 1;" % (i, i)]}
    for line in heads[kind]:
        p.say(line)
    for line in body:
        (p.bad if line.startswith("!") else p.say)("  " + line.lstrip("!").replace("{i}", i))
    p.say("} while %s < %d;" % (i, times) if kind == "do" else "}")
    return True


def under(p, text):
    """The text in one of several kinds of branch that some iterations take."""
    return p.rng.choice(["if {i} == 1 { %s }", "if {i} > 0 { { %s } }", "match {i} { 1, 2 => { %s } else => { } }",
                         "if {i} < 1 { } else { %s }"]) % text


@rule("E11")
def dropped_before_continue(p):
    q, element = p.local([3])
    use = p.rng.choice(["%s(inout %s, 1.0);" % (p.kernel("bump1", element), q), "print await %s[0];" % q])
    return loop_of(p, ["!" + use, under(p, "drop %s; continue;" % q), "print {i};"])


@rule("E11")
def moved_before_continue(p):
    q, element = p.local([2])
    eat = "%s_gone" % p.w.maker.prefix
    p.w.maker.texts[p.w.home].append("orch %s(own t: %s[2]) { print await t[0]; }" % (eat, element))
    return loop_of(p, ["!%s(inout %s, 1.0);" % (p.kernel("bump1", element), q), under(p, "%s(own %s); continue;" % (eat, q))])


@rule("E11")
def dropped_before_break(p):
    q, element = p.local([3])
    loop_of(p, ["%s(inout %s, 1.0);" % (p.kernel("bump1", element), q), under(p, "drop %s; break;" % q)])
    return p.bad("%s(inout %s, 1.0);" % (p.kernel("bump1", element), q))


@rule("E06")
def written_where_it_leaves(p):
    q, element = p.local([3], filled=False)
    write = "%s(out %s, 1);" % (p.kernel("ramp1", element), q)
    return loop_of(p, [under(p, write + " break;"), "!let %s = %s(%s);" % (p.name(), p.kernel("copy1", element), q)])


@rule("E06")
def other_part_on_each_path(p):
    if p.w.indent > 1:  # in a loop that makes no iteration nothing is missing
        return None
    q, element = p.local([8], filled=False)
    ramp = p.kernel("ramp1", element)
    condition = p.w.condition(1)
    p.say("if %s { %s(out %s[0 .. 2], 1); } else { %s(out %s[2 .. 5], 1); }" % (condition, ramp, q, ramp, q))
    return p.bad("%s(inout %s[%d .. 8], 1.0);" % (p.kernel("bump1", element), q, p.rng.randint(5, 7)))


DECLARATIONS += [
    ("E07", "orch zz_f(out y: T[3], n: i64) {%BAD\n  for i in 0 .. n { if i == 2 { return; } }\n  fill1(out y, 1);\n}", "fill1"),
    ("E07", "orch zz_f(out y: T[3], n: i64) {%BAD\n  for i in 0 .. 3 { if i == n { continue; } fill1(out y, 1); return; }\n}", "fill1"),
    ("E07", "orch zz_f(out y: T[3], n: i64) {%BAD\n  while true { if n > 2 { break; } fill1(out y, 1); return; }\n}", "fill1"),
    ("E07", "orch zz_f(out y: T[3], n: i64) {%BAD\n  do { if n > 2 { break; } fill1(out y, 1); } while n < 0;\n}", "fill1"),
]
