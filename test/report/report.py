#!/usr/bin/python3
"""report.py PTOC FOLDER [--thousands N] [--shots FOLDER] - a report of many tasks, opened in headless Chromium.

Idea       Chromium is driven through its debugging pipe, which needs no other program: it opens the page, presses keys, measures, takes pictures.
Prints     the size of the page, the time to open it, the time of a frame while the time line is zoomed.
Exit code  0: nothing on the console, opened within 3 s and drawn at 30 frames a second (of 10^6 tasks; --thousands 1000), the keyboard does
           all; 1: no; 77: Chromium is missing.
"""
import argparse
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys

WIDTHS = (360, 1400, 2560)
HERE = pathlib.Path(__file__).resolve().parent
OPEN_MS, FRAME_MS = 3000, 1000 / 30


class Browser:
    """A page of Chromium: calls go through two pipes, each message ends in a NUL."""

    def __init__(self, program, folder):
        to_read, self.to = os.pipe()
        self.answers, to_write = os.pipe()

        def connect():
            high = [os.dup2(fd, 100 + i) for i, fd in enumerate((to_read, to_write))]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen([program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
                                         f"--user-data-dir={folder}"], preexec_fn=connect, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.number, self.rest, self.session, self.events = 0, b"", None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def receive(self):
        while b"\0" not in self.rest:
            more = os.read(self.answers, 1 << 20)
            if not more:
                sys.exit("Chromium has ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params} | ({"sessionId": self.session} if self.session else {})
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self.receive())

    def value(self, expression):
        r = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in r:
            sys.exit(f"{expression}: {r['exceptionDetails']}")
        return r["result"].get("value")

    def press(self, key):
        text = key if len(key) == 1 else ""
        for kind in ("keyDown", "keyUp"):
            code = {"Enter": 13, "Tab": 9, "Escape": 27, "Home": 36}.get(key, 0)
            more = {"text": "\r" if key == "Enter" else text} if kind == "keyDown" and (text or key == "Enter") else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **more)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)

    def complaints(self):
        """What stands on the console."""
        found = []
        for e in self.events:
            if e.get("method") == "Runtime.exceptionThrown":
                found.append(e["params"]["exceptionDetails"].get("text", "") + str(e["params"]["exceptionDetails"].get("exception", {}).get("description")))
            if e.get("method") == "Log.entryAdded" and e["params"]["entry"]["level"] in ("error", "warning"):
                found.append(e["params"]["entry"]["text"])
            if e.get("method") == "Runtime.consoleAPICalled":
                found.append(str(e["params"]["args"]))
        return found


def use_the_keyboard(browser):
    """Without a pointer: reach the time line, select a task and its neighbours, search, zoom."""
    wrong = []

    def expect(what, expression):
        if not browser.value(expression):
            wrong.append(what)

    for _ in range(5):
        browser.press("Tab")
        if browser.value("document.activeElement.id") == "timeline":
            break
    expect("Tab reaches the time line", "document.activeElement.id === 'timeline'")
    browser.press("n")
    expect("n selects a task", "selected >= 0 && document.getElementById('task').textContent.startsWith('task ' + selected + ': ')")
    before = browser.value("selected")
    browser.press("n")
    expect("n selects the next task of the row", f"begin[selected] > begin[{before}] && row[selected] === row[{before}]")
    browser.press("+")
    expect("+ zooms in", "high - low < whole * 0.75")
    browser.press("ArrowRight")
    browser.press("Home")
    expect("Home shows all", "low === 0 && high === whole")
    browser.press("/")
    expect("/ goes to the search", "document.activeElement.id === 'find'")
    for key in "1234":
        browser.press(key)
    browser.press("Enter")
    expect("a number is found", "selected === 1234 && path.size > 1 && path.has(1234)")
    expect("its regions are shown", r"/inout x: f32\[16\] at memory of the program/.test(document.getElementById('task').textContent)")
    expect("the producers are those of the program", "from[firstEdge[1234]] === 234 || from[firstEdge[1234]] < 1234")
    browser.press("Escape")
    expect("Escape goes back to the time line", "document.activeElement.id === 'timeline'")
    browser.press("Escape")
    expect("Escape selects nothing", "selected === -1")
    return wrong


ZOOM = """(async () => {
  const times = [];
  for (let i = 0; i < 90; i++) {
    zoom(i < 45 ? 0.85 : 1 / 0.85, whole / 3);
    const since = performance.now();
    paint();
    times.push(performance.now() - since);
    await new Promise(requestAnimationFrame);
  }
  view(0, whole);
  return times.sort((a, b) => a - b);
})()"""


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("ptoc")
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--thousands", type=int, default=100)
    p.add_argument("--shots", type=pathlib.Path)
    a = p.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        print("Chromium is missing: apt-get install chromium")
        sys.exit(77)
    a.folder.mkdir(parents=True, exist_ok=True)
    program, page = a.folder / "many", (a.folder / "report.html").resolve()
    subprocess.run([a.ptoc, "build", "-O0", str(HERE / "many.pto"), "-o", str(program)], check=True)
    subprocess.run([str(program), "--input", "x=zeros", "--quiet", "--engine", "timing", "--workers", "vector=6,cube=6", "--set", f"n={a.thousands}",
                    "--report", str(page)], check=True)
    browser = Browser(chromium, a.folder / "profile")
    try:
        browser.size(1400, 1000)
        browser.call("Page.navigate", url=page.as_uri())
        browser.wait_for("Page.loadEventFired")
        opened = browser.value("(() => { const n = performance.getEntriesByType('navigation')[0]; return n.loadEventEnd || n.loadEventStart; })()")
        wrong = use_the_keyboard(browser)
        frames = []
        for width in WIDTHS:
            browser.size(width, 1000)
            times = browser.value(ZOOM)
            frames.append(times[len(times) // 2])
            if browser.value("document.documentElement.scrollWidth > innerWidth"):
                wrong.append(f"at {width} px the page is wider than its window")
            if a.shots:
                picture = browser.call("Page.captureScreenshot", format="png")["data"]
                (a.shots / f"report-{width}.png").write_bytes(base64.b64decode(picture))
        wrong += browser.complaints()
    finally:
        browser.process.kill()
        browser.process.wait()
    print(f"{a.thousands} thousand tasks: {page.stat().st_size / 1e6:.1f} MB, opened in {opened:.0f} ms, a frame of the zoom in "
          + ", ".join(f"{ms:.1f} ms at {width} px" for ms, width in zip(frames, WIDTHS)))
    is_measured = a.thousands >= 1000
    if is_measured and opened > OPEN_MS:
        wrong.append(f"it takes {opened:.0f} ms to open, {OPEN_MS} at most")
    if is_measured and max(frames) > FRAME_MS:
        wrong.append(f"a frame takes {max(frames):.0f} ms, {FRAME_MS:.0f} at most")
    print("\n".join(f"WRONG: {w}" for w in wrong) or "no complaint on the console, and the keyboard does all")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
