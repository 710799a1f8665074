"""Prints a program in which every macro of the headers of generated C, and every common type, is a formal, a const and a local name."""
import re
import subprocess
import sys

headers = "math.h pto/pto_program.h stdbool.h stddef.h stdint.h stdio.h string.h".split()
text = "#define _DEFAULT_SOURCE 1\n" + "".join("#include <%s>\n" % h for h in headers)
names = set("int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t ptrdiff_t wchar_t errno I".split())
for compiler in sys.argv[2:]:
    out = subprocess.run([compiler, "-std=gnu11", "-dM", "-E", "-I", sys.argv[1], "-x", "c", "-"], input=text, capture_output=True, text=True)
    names |= set(re.findall(r"^#define (\w+)", out.stdout, re.M))
names = sorted(n for n in names if not n.startswith("_") and n not in ("true", "false", "bool"))
assert len(names) > 100
for i, n in enumerate(names):
    print("kernel f%d(out %s: i64[1], after: i64) on cpu { %s[0] = after; }" % (i, n, n))
    print("kernel s%d(out y: i64[1], %s: i64, after: bool) on cpu { y[0] = %s + after; }" % (i, n, n))
    print("kernel d%d<%s>(out y: i64[%s]) on cpu { y[0] = %s; }" % (i, n, n, n))
    print("orch o%d(%s: i64) -> i64 { let %s_ = %s + 1; return %s_; }" % (i, n, n, n, n))
print("export orch f(out y: i64[1]) {")
for i, n in enumerate(names):
    print("  f%d(out y, 1); s%d(out y, o%d(2), true); d%d(out y);" % (i, i, i, i))
print("}")
