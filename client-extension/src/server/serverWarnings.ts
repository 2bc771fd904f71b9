/** What the server warns of and no session shows. The panel shows it; where nobody sees the panel, a notification does. */

import * as vscode from "vscode";
import { tell, warn } from "../notify";
import { inLanguage } from "./serverTexts";
import { offersBeside } from "./warningOffers";

/** How the server begins what it says of a setting (`configuration.py`). */
const ABOUT_A_SETTING = "The setting "; // oxlint-disable-line ullage/untranslated -- how the server begins such a message

/** How it begins what it says of the team's database while that is away (`faults.py`). What it says when that is back begins in the same way. */
const ABOUT_THE_TEAMS = /^The (?:connection to the )?team's database /; // oxlint-disable-line ullage/untranslated -- the same

/** Milliseconds for which it is said that something is well again. */
const NOTE_LASTS = 10_000;

/** All that holds now: what is wrong, oldest first, and what has just become well again. */
interface Warned {
  texts: readonly string[];
  note: string | undefined;
}

export class ServerWarnings implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<Warned>();
  readonly onDidChange = this.changed.event;
  /** Whether the user sees the panel. */
  isPanelVisible = (): boolean => false;
  private texts: readonly string[] = [];
  private note: string | undefined;
  private timer: NodeJS.Timeout | undefined;

  get current(): Warned {
    return { texts: this.texts.map(inLanguage), note: this.note === undefined ? undefined : inLanguage(this.note) };
  }

  add(text: string): void {
    if (!this.texts.includes(text)) {
      const isOfTheTeams = ABOUT_THE_TEAMS.test(text); // what it says last of its database is how that stands
      this.set([...this.texts.filter((each) => !isOfTheTeams || !ABOUT_THE_TEAMS.test(each)), text]);
    }
    if (!this.isPanelVisible()) {
      void warnWithOffers(inLanguage(text));
    }
  }

  /** Something is well again, which `text` says: what was warned of it does not hold any longer. */
  over(text: string): void {
    this.set(
      this.texts.filter((each) => !(ABOUT_THE_TEAMS.test(text) && ABOUT_THE_TEAMS.test(each))),
      text,
    );
    this.timer = setTimeout(() => this.set(this.texts), NOTE_LASTS);
    if (!this.isPanelVisible()) {
      void tell(inLanguage(text));
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
    clearTimeout(this.timer);
    this.changed.dispose();
  }

  private set(texts: readonly string[], note?: string): void {
    clearTimeout(this.timer);
    this.texts = texts;
    this.note = note;
    this.changed.fire(this.current);
  }
}

/** With the buttons that the panel has beside it. */
async function warnWithOffers(text: string): Promise<void> {
  const offers = offersBeside(text);
  const chosen = await warn(text, ...offers.map(({ label }) => label));
  const offer = offers.find(({ label }) => label === chosen);
  if (offer !== undefined) {
    await vscode.commands.executeCommand(offer.command);
  }
}
