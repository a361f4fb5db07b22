// Starts `nodrop lsp` and connects the editor with it. What a file is, and what is wrong with it, the server decides.
import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

// The languages that VS Code gives the files that the server may know; it ignores all others.
const LANGUAGES = ["yaml", "json", "jsonc", "toml", "properties", "plaintext", "shellscript"];

let client: LanguageClient | undefined;
let last: Promise<void> = Promise.resolve();

async function stop(): Promise<void> {
  const stopped = client;
  client = undefined;
  await stopped?.dispose();
}

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("nodrop");
  const command = settings.get<string>("path", "nodrop");
  const server: ServerOptions = { command, args: ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: LANGUAGES.map((language) => ({ scheme: "file", language })),
    initializationOptions: { strictness: settings.get<string>("strictness", "regular") },
  };
  const started = new LanguageClient("nodrop", "nodrop", server, options);
  try {
    await started.start();
    client = started;
  } catch (error) {
    await started.dispose().catch(() => undefined);
    const reason = error instanceof Error ? error.message : String(error);
    void vscode.window.showErrorMessage(
      `nodrop: "${command} lsp" does not start (${reason}). Install nodrop with its extra lsp, or set nodrop.path.`,
    );
  }
}

// One after the other: two restarts at the same time would leave a server without an editor.
function restart(): Promise<void> {
  last = last.then(stop).then(start);
  return last;
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("nodrop.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("nodrop.path") || change.affectsConfiguration("nodrop.strictness")) {
        void restart();
      }
    }),
  );
  await restart();
}

export function deactivate(): Promise<void> {
  last = last.then(stop);
  return last;
}
