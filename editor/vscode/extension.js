// extension.js - starts `ptoc lsp` for .pto files, and does what its code lenses ask for.
const { commands, window, workspace, Uri } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function ptoc() {
  return workspace.getConfiguration("ptoc").get("path") || "ptoc";
}

// The lenses of an entry: each is a line in a terminal.
const lenses = {
  "pto.run": (file, entry) => ["run", file, "--entry", entry],
  "pto.check": (file, entry) => ["run", file, "--entry", entry, "--check"],
  "pto.graph": (file, entry) => ["graph", file, "--entry", entry, "--format=text"],
  "pto.report": (file, entry) => ["run", file, "--entry", entry, "--stats"],
};

function quote(word) {
  return /^[\w./=-]+$/.test(word) ? word : "'" + word.replace(/'/g, "'\\''") + "'";
}

function start(watcher) {
  client = new LanguageClient("ptoc", "ptoc", { command: ptoc(), args: ["lsp"] }, {
    documentSelector: [{ language: "pto" }],
    synchronize: { configurationSection: "pto", fileEvents: watcher },
    initializationOptions: { hints: workspace.getConfiguration("pto").get("hints") },
  });
  client.start().catch(() => window.showErrorMessage(`'${ptoc()}' does not start. The setting ptoc.path names the compiler.`));
}

// Of a client that did not start, or has given up, there is nothing to stop.
const stop = () => client.dispose().catch(() => {});

exports.activate = (context) => {
  const watcher = workspace.createFileSystemWatcher("**/*.pto");
  start(watcher);
  context.subscriptions.push(watcher, workspace.onDidChangeConfiguration(async (event) => {
    if (!event.affectsConfiguration("ptoc.path")) return;
    await stop();
    start(watcher);
  }));
  for (const [name, words] of Object.entries(lenses))
    context.subscriptions.push(commands.registerCommand(name, (uri, entry) => {
      const terminal = window.terminals.find((t) => t.name === "ptoc") || window.createTerminal("ptoc");
      terminal.show(true);
      terminal.sendText([ptoc(), ...words(Uri.parse(uri).fsPath, entry)].map(quote).join(" "), false); // the user adds inputs
    }));
};

exports.deactivate = () => client && stop();
