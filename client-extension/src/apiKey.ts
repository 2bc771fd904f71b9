/** The API key: kept in the editor's secret storage, asked for without showing it, never in a setting or a message. */

import * as vscode from "vscode";

const SECRET = "ullage.apiKey";

export class ApiKey {
  /** The key was stored or cleared, in this window or another. */
  readonly onDidChange: vscode.Event<void>;
  private readonly changed = new vscode.EventEmitter<void>();

  constructor(
    private readonly secrets: vscode.SecretStorage,
    subscriptions: vscode.Disposable[],
  ) {
    this.onDidChange = this.changed.event;
    subscriptions.push(
      this.changed,
      secrets.onDidChange((event) => event.key === SECRET && this.changed.fire()),
    );
  }

  /** The stored key; undefined where none is. */
  async read(): Promise<string | undefined> {
    return (await this.secrets.get(SECRET)) || undefined;
  }

  /** Asks for a key and stores it. */
  async ask(): Promise<void> {
    const key = await vscode.window.showInputBox({
      title: "Ullage: Set API key",
      prompt: "Kept in the system's secret storage and handed to the server alone",
      placeHolder: "sk-ant-…",
      password: true,
      ignoreFocusOut: true,
      validateInput: (value) => (/\s/.test(value.trim()) ? "A key has no spaces in it" : undefined),
    });
    if (key?.trim()) {
      await this.secrets.store(SECRET, key.trim());
    }
  }

  /** Forgets the stored key. */
  async clear(): Promise<void> {
    await this.secrets.delete(SECRET);
    if (process.env.ANTHROPIC_API_KEY) {
      void vscode.window.showInformationMessage(
        "The stored key is cleared. ANTHROPIC_API_KEY is set in the environment and is used from now on.",
      );
    }
  }
}
