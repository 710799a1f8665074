"""Writes what the kernels of affine.pto compute, and takes the map out of the head: write.py SKELETON.cpp FOLDER."""
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
work = {
    "affine": "const int32_t n = (int32_t)(count * pto::place<float>(dense));\n    AscendC::Muls(y, x, k.s, n);\n"
              "    AscendC::PipeBarrier<PIPE_V>();\n    AscendC::Add(y, y_old, y, n);\n    (void)i0, (void)i1;",
    "sum": "AscendC::Add(c, a, b, (int32_t)(count * pto::place<float>(dense)));\n    (void)k, (void)i0;",
}
for name, body in work.items():
    text, count = re.subn(r"#ifndef PTO_SKELETON\n#error \"kernel '%s'.*?\n    \(void\)k.*?\n" % name, "    " + body + "\n", text, flags=re.S)
    assert count == 1, name
with open(sys.argv[2] + "/written.cpp", "w", encoding="utf-8") as f:
    f.write(text + "".join("MOCK_KERNEL(%s)\n" % name for name in work))
sections = re.findall(r"^ \*     (.*)$", text.split("*/")[0], re.M)
with open(sys.argv[2] + "/map.ini", "w", encoding="utf-8") as f:
    for line in sections:
        f.write(re.sub(r"\.o$", ".so", line) + "\n" + re.sub(r"\[(.*)\]", r"function = device_\1\n", line) * line.startswith("["))
