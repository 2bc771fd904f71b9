/** What the server wants the user to know beside any session: a setting that it could not use, a folder that it cannot write to. */

import * as vscode from "vscode";
import { warn } from "./notify";

/** How the server begins what it says of a setting (`configuration.py`). */
const ABOUT_A_SETTING = "The setting ";

/** The warnings that hold, oldest first. The panel shows them; where nobody sees the panel, a notification does. */
export class ServerWarnings implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<readonly string[]>();
  /** All that hold now. */
  readonly onDidChange = this.changed.event;
  /** Whether the user sees the panel. */
  isPanelVisible = (): boolean => false;
  private texts: readonly string[] = [];

  get current(): readonly string[] {
    return this.texts;
  }

  add(text: string): void {
    if (!this.texts.includes(text)) {
      this.set([...this.texts, text]);
    }
    if (!this.isPanelVisible()) {
      void warn(text);
    }
  }

  /** The server looks at the settings again, and says again what is wrong with them. */
  settingsChanged(): void {
    this.set(this.texts.filter((text) => !text.startsWith(ABOUT_A_SETTING)));
  }

  clear(): void {
    this.set([]);
  }

  dispose(): void {
    this.changed.dispose();
  }

  private set(texts: readonly string[]): void {
    this.texts = texts;
    this.changed.fire(texts);
  }
}
