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

exports.activate = (context) => {
  const server = { command: ptoc(), args: ["lsp"] };
  client = new LanguageClient("ptoc", "ptoc", server, {
    documentSelector: [{ language: "pto" }],
    synchronize: { configurationSection: "pto", fileEvents: workspace.createFileSystemWatcher("**/*.pto") },
    initializationOptions: { hints: workspace.getConfiguration("pto").get("hints") },
  });
  client.start();
  for (const [name, words] of Object.entries(lenses))
    context.subscriptions.push(commands.registerCommand(name, (uri, entry) => {
      const terminal = window.terminals.find((t) => t.name === "ptoc") || window.createTerminal("ptoc");
      terminal.show(true);
      terminal.sendText([ptoc(), ...words(Uri.parse(uri).fsPath, entry)].map(quote).join(" "), false); // the user adds inputs
    }));
};

exports.deactivate = () => client && client.stop();
