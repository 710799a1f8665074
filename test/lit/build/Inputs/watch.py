"""watch.py PTOC - changes files under `ptoc watch` and waits for what it says."""
import os, signal, subprocess, sys, threading, queue

ptoc = sys.argv[1]


def write(name, text):
    with open(name + ".new", "w") as f:
        f.write(text)
    os.rename(name + ".new", name)


class Watch:
    def __init__(self, *words):
        self.process = subprocess.Popen([ptoc, "watch", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=lambda: [self.lines.put(line) for line in self.process.stdout], daemon=True).start()

    def expect(self, *texts):
        for text in texts:
            seen = []
            while True:
                try:
                    seen.append(self.lines.get(timeout=60))
                except queue.Empty:
                    sys.exit("no line with %r, only %r" % (text, seen))
                if text in seen[-1]:
                    break

    def end(self, number):
        self.process.send_signal(number)
        assert self.process.wait(60) == 128 + number, self.process.returncode


write("m.pto", "const N = 1;\n")
write("a.pto", 'import "m.pto" as m;\nexport orch f() { print m.N; }\n')
w = Watch("a.pto")
w.expect("watch: exit code 0")
write("a.pto", 'import "m.pto" as m;\nexport orch f() { print m.M; }\n')
w.expect("watch: a file changed", "error[E01]", "watch: exit code 1")
write("m.pto", "const N = 1; const M = 2;\n")
w.expect("watch: a file changed", "watch: exit code 0")
os.remove("m.pto")
w.expect("watch: a file changed", "error[E16]", "watch: exit code 1")
write("m.pto", "const N = 1; const M = 2;\n")
w.expect("watch: exit code 0")
w.end(signal.SIGINT)

write("second.pto", 'import "n.pto" as n;\nexport orch f() { print n.N; }\n')
write("n.pto", "const N = 1;\n")
w = Watch("check", "a.pto", "second.pto")
w.expect("watch: exit code 0")
write("n.pto", "const M = 1;\n")
w.expect("watch: a file changed", "second.pto:2:", "watch: exit code 1")
write("a.pto", "const = 1;\n")
w.expect("watch: a file changed", "a.pto:1:7", "second.pto:2:", "watch: exit code 1")
w.end(signal.SIGINT)

write("k.c", "long number(void) { return 7; }\n")
write("b.pto", 'kernel k(out y: i64[1]) on cpu { long number(void); y[0] = number(); }\n'
               'export orch f(n: i64) { let y = k(); print "is", await y[0] + n; }\n')
w = Watch("run", "b.pto", "k.c", "--set", "n=1")
w.expect("is 8", "watch: exit code 0")
write("k.c", "long number(void) { return 8; }\n")
w.expect("is 9", "watch: exit code 0")
write("k.c", "#include <unistd.h>\nlong number(void) { sleep(1000); return 8; }\n")
w.expect("a file changed")
write("k.c", "long number(void) { return 9; }\n")
w.expect("is 10", "watch: exit code 0")
w.end(signal.SIGTERM)
print("watched")
