/**
 * Sessions of other programs on this machine: a list, then what one was and what its compactions had lost, then a session here that goes on
 * with it. Nothing is looked for before the sheet is opened. The contents of the files are shown as text, and never run.
 */

import { formatTokens } from "../../src/format";
import { dateLanguage, plural, t } from "../../src/l10n";
import type { OtherCompaction, OtherLooked, OtherSession } from "../../src/protocol";
import { ageOf } from "../../src/session/sessionRows";
import { sentence, visibleLine } from "../../src/visible";
import type { Actions } from "../actions";
import { element, icon, setChildren, textButton } from "../dom";
import type { Sheet } from "../history/sheet";

export class OthersSheet {
  private readonly filter = element("input", {
    type: "search",
    className: "sessions-filter",
    placeholder: t("Filter by title, program or folder"),
    attributes: { "aria-label": t("Filter sessions") },
  });
  private readonly list = element("ul", { className: "sessions", attributes: { "aria-label": t("Sessions of other programs") } });
  private readonly told = element("p", { className: "muted", attributes: { role: "status" } });
  private readonly scope: HTMLButtonElement;
  private sessions: readonly OtherSession[] = [];
  private everywhere = false;
  /** Counts what was asked: only the newest answer is shown. */
  private asked = 0;

  constructor(
    private readonly actions: Actions,
    private readonly sheet: Sheet,
  ) {
    this.scope = textButton({ label: "", icon: "folder", className: "secondary", onClick: () => this.changeScope() });
    this.filter.addEventListener("input", () => this.draw());
  }

  /** @param file one that the user chose, to be shown at once */
  open(file?: string): void {
    if (file !== undefined) {
      void this.look({ file });
      return;
    }
    const choose = textButton({
      label: t("Choose a file…"),
      icon: "file",
      className: "secondary",
      onClick: () => this.actions.runCommand("ullage.chooseOther"),
    });
    const buttons = element("div", { className: "button-row" }, this.scope, choose);
    const body = element("div", { className: "sessions-sheet" }, this.filter, buttons, this.told, this.list);
    this.sheet.open({ title: t("Continue from another program"), body, closed: () => void (this.asked += 1) });
    void this.ask();
    this.filter.focus();
  }

  private changeScope(): void {
    this.everywhere = !this.everywhere;
    void this.ask();
  }

  private async ask(): Promise<void> {
    this.asked += 1;
    const { asked } = this;
    this.scope.lastElementChild?.replaceChildren(this.everywhere ? t("Only of this workspace") : t("Those of other folders, too"));
    this.say(t("Looking for sessions of Claude Code, Codex, Cline and OpenCode…"));
    setChildren(this.list);
    try {
      const { sessions, more } = await this.actions.ask("ullage/workspace/others", { everywhere: this.everywhere });
      if (asked === this.asked) {
        this.sessions = sessions;
        this.draw();
        if (sessions.length === 0) {
          this.say(
            this.everywhere
              ? t("No sessions of other programs were found on this machine.")
              : t("No session of Claude Code, Codex, Cline or OpenCode was found for this workspace."),
          );
        } else {
          this.say(more ? t("These are the newest; there are more.") : "");
        }
      }
    } catch (error) {
      if (asked === this.asked) {
        this.say(messageOf(error));
      }
    }
  }

  private say(text: string): void {
    this.told.textContent = text;
    this.told.hidden = text === "";
  }

  private draw(): void {
    const words = this.filter.value.toLocaleLowerCase().split(/\s+/u).filter(Boolean);
    const shown = this.sessions.filter(({ title, program, folder }) => {
      const text = `${title} ${program} ${folder ?? ""}`.toLocaleLowerCase();
      return words.every((word) => text.includes(word));
    });
    setChildren(this.list, ...shown.map((each) => this.row(each)));
  }

  private row(session: OtherSession): HTMLElement {
    const notes = [session.program, session.here ? "" : (session.folder ?? ""), session.size == null ? "" : sizeOf(session.size)];
    const open = element(
      "button",
      {
        type: "button",
        className: "session-open",
        title: visibleLine(session.title),
        on: { click: () => void this.look({ otherId: session.id }) },
      },
      element(
        "span",
        { className: "session-line" },
        element("bdi", { className: "session-name", textContent: visibleLine(session.title) }),
        element("span", { className: "session-age", textContent: ageOf(session.updatedAt, Date.now() / 1000) }),
      ),
      element(
        "span",
        { className: "session-line session-second" },
        element("span", { className: "session-notes", textContent: visibleLine(notes.filter(Boolean).join(" · ")) }),
      ),
    );
    return element("li", { className: "session-row" }, open);
  }

  private async look(which: { otherId: string } | { file: string }): Promise<void> {
    this.asked += 1;
    const { asked } = this;
    const body = element(
      "div",
      { className: "other" },
      element("p", { className: "muted", textContent: t("Reading the session…"), attributes: { role: "status" } }),
    );
    this.sheet.open({ title: t("Continue from another program"), body, closed: () => void (this.asked += 1) });
    this.asked = asked; // what closed is the list
    try {
      const looked = await this.actions.ask("ullage/workspace/lookAtOther", which);
      if (asked === this.asked) {
        this.show(looked);
      }
    } catch (error) {
      if (asked === this.asked) {
        setChildren(body, element("p", { textContent: sentence(messageOf(error)), attributes: { role: "alert" } }), this.back());
      }
    }
  }

  private back(): HTMLButtonElement {
    return textButton({ label: t("Back to the list"), icon: "arrow-left", className: "secondary", onClick: () => this.open() });
  }

  private show(looked: OtherLooked): void {
    const { session } = looked;
    const begin = textButton({
      label: t("Go on from here"),
      className: "primary",
      onClick: () => {
        this.sheet.close();
        this.actions.runCommand("ullage.goOnWithOther", session.id);
      },
    });
    const body = element(
      "div",
      { className: "other", tabIndex: 0, attributes: { role: "region", "aria-label": t("What the session was") } },
      element("h3", { className: "other-title" }, element("bdi", { textContent: visibleLine(session.title) })),
      element("p", { className: "muted", textContent: whatItWas(looked) }),
      drawFile(visibleLine(session.file)),
      !session.here &&
        session.folder != null &&
        warning(t("Its agent worked in another folder: {folder}", { folder: visibleLine(session.folder) })),
      ...damageOf(looked).map((text) => warning(text)),
      element("h4", { textContent: t("Here") }),
      element("p", { textContent: fitsHere(looked) }),
      element("p", {
        className: "muted",
        textContent: t(
          "All that was said comes along, also what was compacted there; thinking does not. The agent reads a file again before it edits it. The file of the other program stays as it is.",
        ),
      }),
      looked.compactions.length > 0 && element("h4", { textContent: t("What its compactions had lost") }),
      looked.compactions.length > 0 &&
        !looked.measured &&
        element("p", { className: "muted", textContent: t("The session is too long to measure that.") }),
      looked.measured && element("ol", { className: "other-compactions" }, ...looked.compactions.map((each) => lostIn(each))),
    );
    const foot = element("div", { className: "sheet-foot button-row" }, begin, this.back());
    this.sheet.open({ title: t("Continue from another program"), body, foot });
    begin.focus();
  }
}

function whatItWas({ session, model, prompts, replies, calls, endedAt }: OtherLooked): string {
  const parts = [
    `${session.program} ${session.version ?? ""}`.trim(),
    model ?? "",
    endedAt == null ? "" : new Date(endedAt * 1000).toLocaleString(dateLanguage(), { dateStyle: "medium", timeStyle: "short" }),
    plural(prompts, t("{count} prompt"), t("{count} prompts")),
    plural(replies, t("{count} reply"), t("{count} replies")),
    plural(calls, t("{count} tool call"), t("{count} tool calls")),
  ];
  return visibleLine(parts.filter(Boolean).join(" · "));
}

function damageOf({ missing, unknown }: OtherLooked): string[] {
  return [
    ...(missing > 0
      ? [
          plural(
            missing,
            t("{count} place of its file could not be read: what it said does not come along."),
            t("{count} places of its file could not be read: what they said does not come along."),
          ),
        ]
      : []),
    ...(unknown > 0
      ? [
          plural(
            unknown,
            t("{count} part is of a kind that Ullage does not know, of a newer version perhaps. It does not come along."),
            t("{count} parts are of kinds that Ullage does not know, of a newer version perhaps. They do not come along."),
          ),
        ]
      : []),
  ];
}

function fitsHere({ tokens, threshold }: OtherLooked): string {
  const values = { tokens: formatTokens(tokens), threshold: formatTokens(threshold) };
  return tokens < threshold
    ? t("It holds about {tokens} tokens and fits: Ullage compacts at {threshold}.", values)
    : t("It holds about {tokens} tokens. Ullage compacts at {threshold}, so it compacts it at once. You can undo that.", values);
}

function lostIn(compaction: OtherCompaction): HTMLElement {
  const { automatic, tokensBefore, at, readable, needed, kept, shownAgain, gone, examples, charactersAgain } = compaction;
  const head = [
    automatic == null ? t("Compacted") : automatic ? t("Compacted by itself") : t("Compacted when asked"),
    at == null ? "" : new Date(at * 1000).toLocaleString(dateLanguage(), { dateStyle: "medium", timeStyle: "short" }),
    tokensBefore == null ? "" : t("at {tokens} tokens", { tokens: formatTokens(tokensBefore) }),
  ];
  return element(
    "li",
    {},
    element("p", { className: "other-when", textContent: head.filter(Boolean).join(" · ") }),
    element("p", {
      textContent: readable
        ? needed === 0
          ? t("Nothing of before was needed soon after it.")
          : t(
              "Of {needed} names, paths and messages that were needed soon after, its summary kept {kept}; {again} came once more; {gone} did not.",
              {
                needed,
                kept,
                again: shownAgain,
                gone,
              },
            )
        : t("Its summary cannot be read here, so nobody can say what it kept."),
    }),
    charactersAgain > 0 &&
      element("p", {
        className: "muted",
        textContent: plural(
          charactersAgain,
          t("{count} character came from tools again that it had seen before."),
          t("{count} characters came from tools again that it had seen before."),
        ),
      }),
    examples.length > 0 &&
      element(
        "p",
        { className: "muted other-examples" },
        t("Not kept:"),
        " ",
        ...examples.flatMap((each, index) => [index > 0 && ", ", element("code", { textContent: visibleLine(each) })]),
      ),
  );
}

function warning(text: string): HTMLElement {
  return element("p", { className: "rule-warning" }, icon("warning"), element("span", { textContent: text }));
}

function sizeOf(bytes: number): string {
  const megabytes = bytes / 1_000_000;
  return megabytes >= 1
    ? t("{size} MB", { size: megabytes.toLocaleString(dateLanguage(), { maximumFractionDigits: 1 }) })
    : t("{size} kB", { size: Math.max(1, Math.round(bytes / 1000)) });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A path on one line: of the folder what there is room for, of the file all that can be. A pointer shows the whole. */
function drawFile(path: string): HTMLElement {
  const start = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1;
  const folder = element("bdi", { className: "other-folder", textContent: path.slice(0, start) });
  return element("p", { className: "muted other-file", title: path }, folder, element("bdi", { textContent: path.slice(start) }));
}
