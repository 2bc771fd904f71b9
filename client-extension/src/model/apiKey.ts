/** The API key: kept in the editor's secret storage and asked for without showing it, never in a setting or a message. */

import * as vscode from "vscode";
import { t } from "../l10n";
import { askFor, tell } from "../notify";

const SECRET = "ullage.apiKey";

/** The API key, in the editor's secret storage. */
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

  /** What is stored of the key (`storedKey.ts`); undefined if none is. */
  async read(): Promise<string | undefined> {
    return (await this.secrets.get(SECRET)) || undefined;
  }

  /**
   * Asks for a key; undefined if the user leaves.
   *
   * @param problemOf what is wrong with what was typed. @param problem what was wrong with the key that was tried before.
   * @param prompt says where it will be sent.
   * @param typed stands in the box already: a key that nobody refused, since the server could not be reached.
   */
  async input(
    problemOf: (typed: string) => string | undefined,
    problem: string | undefined,
    prompt: string,
    placeHolder = "",
    typed = "",
  ): Promise<string | undefined> {
    const key = await askFor({
      title: t("Ullage: API key"),
      prompt: problem ?? prompt,
      value: typed,
      placeHolder,
      password: true,
      ignoreFocusOut: true,
      validateInput: (value) => problemOf(value) ?? (value === "" ? problem : undefined),
    });
    return key?.trim() || undefined;
  }

  /** Keeps a key with its address, as `toStore` has written them; undefined forgets it. */
  async keep(stored: string | undefined): Promise<void> {
    await (stored === undefined ? this.secrets.delete(SECRET) : this.secrets.store(SECRET, stored));
  }

  /** Forgets the stored key. */
  async clear(): Promise<void> {
    await this.secrets.delete(SECRET);
    if (process.env.ANTHROPIC_API_KEY) {
      void tell(t("The stored key is cleared. ANTHROPIC_API_KEY is set in the environment and is used from now on."));
    }
  }
}
