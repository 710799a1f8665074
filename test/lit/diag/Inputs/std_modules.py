"""For each module of std: `import NAME;` and a call of its first kernel without the module."""
import glob, os, re, subprocess, sys
ptoc, std = sys.argv[1:]

def said(text):
    with open("t.pto", "w") as f:
        f.write(text)
    r = subprocess.run([ptoc, "check", "t.pto"], stderr=subprocess.PIPE, text=True)
    assert r.returncode == 1, r
    return r.stderr

modules = [os.path.basename(path)[:-4] for path in glob.glob(std + "/*.pto")]
assert len(modules) > 5
for name in modules:
    out = said(f"import {name};\norch f() {{}}\n")
    assert f'"std/{name}.pto"' in out, out
    with open(f"{std}/{name}.pto") as f:
        kernel = re.search(r"^(?:@\S+ )?(?:kernel|orch) (\w+)", f.read(), re.M)[1]
    out = said(f"export orch f(out x: f32[4]) {{ {kernel}(out x); }}\n")
    assert re.search(r'import "std/\w+\.pto" as (\w+); then \1\.' + kernel + r"\(", out), out
