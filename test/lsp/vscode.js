// vscode.js URL CHROMIUM FOLDER - what a user of VS Code does.  FOLDER/work is open in the window; FOLDER/ptoc is the compiler,
// and FOLDER/pids has the numbers of the servers that were started.  Where a step fails, vscode.png is the window as it was.
const { chromium } = require("playwright-core");
const fs = require("fs");

const [url, browser_path, folder] = process.argv.slice(2);
const work = folder + "/work", user = folder + "/data/User";
const HEAD = 'import "std/tile.pto" as tile;\nexport orch f(in a: f32[64, 64], inout c: f32[64, 64]) {\n  view At = a tiled [64, 64];\n';
const BODY = "kernel k(inout b: f32[8]) on vector {\n  b[0] = nothing;\n}\nexport orch h(inout b: f32[8]) { k(inout b); }\n";
const SETTINGS = {
  "ptoc.path": folder + "/ptoc", "workbench.startupEditor": "none", "chat.disableAIFeatures": true, "git.enabled": false,
  "remote.autoForwardPorts": false, "editor.minimap.enabled": false, "files.autoSave": "off",
};
let page;

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const key = (name) => page.keyboard.press(name);
const type = (text) => page.keyboard.type(text);
const all = async (selector) => (await page.locator(selector).allInnerTexts()).map((text) => text.replace(/\u00a0/g, " "));
const text_of = (name) => fs.readFileSync(work + "/" + name, "utf8");

// The first value of `look` that is one.
async function until(what, look) {
  for (const end = Date.now() + 30000; Date.now() < end; await sleep(100)) {
    const value = await look();
    if (value) return value;
  }
  throw new Error("not seen: " + what);
}
const shown = (selector, text = "") =>
  until(`${text} in ${selector}`, async () => (await all(selector)).join("\n").includes(text) && (await page.locator(selector).count()) > 0);
const gone = (selector) => until("no " + selector, async () => (await page.locator(selector).count()) === 0);

async function command(name) {
  await key("F1");
  await shown(".quick-input-widget", "");
  await type(name);
  await shown(".quick-input-list .monaco-list-row.focused", name);
  await key("Enter");
}
async function open(name) {
  await page.locator(".explorer-folders-view .monaco-list-row", { hasText: name }).first().dblclick();
  await shown(".tab.active", name.slice(0, -4));
  await page.locator(".monaco-editor .view-lines").first().click();
}
// The cursor goes to a text of the file on disk.
async function go(name, text, skip = 0) {
  const before = text_of(name).slice(0, text_of(name).indexOf(text) + skip).split("\n");
  await key("Control+G");
  await shown(".quick-input-widget", "");
  await type(`${before.length}:${before.at(-1).length + 1}`);
  await key("Enter");
  await until("the cursor", async () => (await all(".statusbar-item")).includes(`Ln ${before.length}, Col ${before.at(-1).length + 1}`));
}
async function saved(name, text) {
  await until(`'${text}' in ${name}`, async () => {
    await key("Control+S");
    await sleep(200);
    return text_of(name).includes(text);
  });
}
async function hover(text, expected) {
  await go("p.pto", text);
  await key("Control+K");
  await key("Control+I");
  await shown(".monaco-hover", expected);
  await key("Escape");
}
const servers = () => (fs.existsSync(folder + "/pids") ? fs.readFileSync(folder + "/pids", "utf8").trim().split("\n") : [])
  .filter((pid) => fs.existsSync("/proc/" + pid));
const problems = ".markers-panel .monaco-list-row";

const steps = {
  "a message at its place": async () => {
    await open("p.pto");
    await shown(".squiggly-error");
    await command("Problems: Focus on Problems View");
    await shown(problems, "'c' of 'add_to<f32>' is inout: the argument must say so");
    await shown(problems, "E08");
    await shown(problems, "[Ln 5, Col 18]");
  },
  "its fix": async () => {
    await open("p.pto");
    await go("p.pto", "c);");
    await key("Control+.");
    await shown(".action-widget .monaco-list-row", "add 'inout'");
    await key("Enter");
    await gone(".squiggly-error");
    await gone(problems);
    await saved("p.pto", "  tile.add_to(P, inout c);\n");
  },
  "hovers": async () => {
    await hover("At = ", "tiled");
    await hover("P = ", "f32[64, 64]");
    await hover("gemm(a", "kernel gemm");
  },
  "hints and lenses": async () => {
    await shown(".view-lines", "let P: f32[64, 64] = tile");
    await shown(".view-lines", "{// need: 16384 bytes, peak: 16384 bytes");
    await shown(".codelens-decoration", "run with --check");
  },
  "hints switched off, and on": async () => {
    fs.mkdirSync(work + "/.vscode");
    fs.writeFileSync(work + "/.vscode/settings.json", '{ "pto.hints.types": false }');
    await shown(".view-lines", "let P = tile");
    fs.writeFileSync(work + "/.vscode/settings.json", "{}");
    await shown(".view-lines", "let P: f32[64, 64] = tile");
  },
  "rename": async () => {
    await go("p.pto", "P = ");
    await key("F2");
    const box = page.locator(".rename-box input");
    await until("the old name", async () => (await box.count()) > 0 && (await box.inputValue()) === "P");
    await box.fill("product");
    await box.press("Enter");
    await shown(".view-lines", "add_to(product, inout c)");
    await saved("p.pto", "let product = ");
  },
  "references": async () => {
    await go("p.pto", "a: f32");
    await key("Shift+F12");
    await until("three places", async () => (await page.locator(".ref-tree .monaco-list-row").count()) === 3);
    await key("Escape");
  },
  "completion and signature": async () => {
    await go("p.pto", "}\n");
    await type("tile.ad");
    await shown(".suggest-widget .monaco-list-row", "add_to");
    await key("Escape");
    await type("d(");
    await shown(".parameter-hints-widget", "kernel add");
    await key("Escape");
    await command("File: Revert File");
    await gone(".squiggly-error");
  },
  "layout": async () => {
    await go("p.pto", "view At");
    await type("   ");
    await saved("p.pto", "     view At");
    await command("Format Document");
    await saved("p.pto", "\n  view At");
  },
  "symbols": async () => {
    await key("Control+Shift+O");
    await shown(".quick-input-list", "f");
    await shown(".quick-input-list", "tile");
    await key("Escape");
  },
  "colours": async () => {
    await go("p.pto", "gemm(a");
    await command("Developer: Inspect Editor Tokens and Scopes");
    await shown(".token-inspect-widget", "kernel");
    await shown(".token-inspect-widget", "source.pto");
    await key("Escape");
  },
  "definition in the library": async () => {
    await go("p.pto", "gemm(a");
    await key("F12");
    await shown(".tab.active", "tile");
    await shown(".view-line", "kernel gemm<M, N, K>");
    await gone(".squiggly-error");
  },
  "a message of the C compiler stays": async () => {
    await open("b.pto");
    await go("b.pto", "nothing");
    await type(" ");
    await saved("b.pto", "=  nothing");
    await shown(problems, "unknown name 'nothing'");
    await sleep(3000); // the host reports that the file was changed on disk
    await shown(problems, "unknown name 'nothing'");
  },
  "another server behind one that was killed": async () => {
    const [first] = servers();
    process.kill(first, "SIGKILL");
    await until("a new server", () => servers().length === 1 && servers()[0] !== first);
    await open("p.pto");
    await go("p.pto", "inout c);");
    await type("x");
    await shown(".squiggly-error");
    await key("Backspace");
    await gone(".squiggly-error");
  },
  "no server behind a closed window": async () => {
    await key("Control+S");
    await page.close({ runBeforeUnload: true });
    await until("no server", () => servers().length === 0);
  },
};

async function main() {
  fs.mkdirSync(user, { recursive: true });
  fs.writeFileSync(user + "/settings.json", JSON.stringify(SETTINGS));
  fs.writeFileSync(work + "/p.pto", HEAD + "  let P = tile.gemm(a, At[0, 0]);\n  tile.add_to(P, c);\n}\n");
  fs.writeFileSync(work + "/b.pto", BODY);
  await until("the host", () => fetch(url).then(() => true, () => false));
  const browser = await chromium.launch({ executablePath: browser_path, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
  page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  let step;
  try {
    await page.goto(url + "?folder=" + work);
    for (step of Object.keys(steps)) {
      await steps[step]();
      console.log("holds: " + step);
    }
  } catch (error) {
    console.log(`fails: ${step}: ${error.message}`);
    await page.screenshot({ path: "vscode.png" }).catch(() => {});
    process.exitCode = 1;
  }
  await browser.close();
}
main();
