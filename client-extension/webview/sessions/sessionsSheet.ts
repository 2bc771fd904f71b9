/**
 * All sessions of the workspace in one list, with what each does, how full its context is, what it cost and what is open of its changes. It
 * follows what happens. With the keyboard alone: type to filter, arrows to choose, Enter to open, F2 to rename, Delete to delete.
 */

import { t } from "../../src/l10n";
import type { SessionFigures, SessionSummary } from "../../src/protocol";
import { ageOf, fullnessOf, matching, notesOf, openFilesOf, STATUSES, statusOf, titleOf } from "../../src/session/sessionRows";
import { visibleLine } from "../../src/visible";
import type { Actions } from "../actions";
import { drawLines } from "../dock/changes";
import { element, icon, iconButton, setChildren, textButton } from "../dom";
import type { Sheet } from "../history/sheet";

/** Milliseconds in which news of the list are put together: several windows may tell at once. */
const ASK_AFTER = 150;

/** Rows that are drawn at a time: a workspace may have a thousand sessions. */
const ROWS = 200;

export class SessionsSheet {
  private readonly filter = element("input", {
    type: "search",
    className: "sessions-filter",
    placeholder: t("Filter by title or state"),
    attributes: { "aria-label": t("Filter sessions") },
  });
  private readonly list = element("ul", { className: "sessions", attributes: { "aria-label": t("Sessions") } });
  private readonly nothing = element("p", { className: "muted", hidden: true });
  private readonly rows = new Map<string, SessionRow>();
  private sessions: readonly SessionSummary[] = [];
  private current: string | undefined;
  private asking: ReturnType<typeof setTimeout> | undefined;
  private isOpen = false;
  private limit = ROWS;
  private readonly more = textButton({ label: "", className: "link", onClick: () => this.showMore() });

  constructor(
    private readonly actions: Actions,
    private readonly sheet: Sheet,
    private readonly showError: (message: string) => void,
  ) {
    this.filter.addEventListener("input", () => this.draw());
    this.filter.addEventListener("keydown", (event) => {
      const first = this.list.querySelector<HTMLElement>(".session-open");
      if (event.key === "ArrowDown" && first !== null) {
        event.preventDefault();
        first.focus();
      } else if (event.key === "Enter" && !event.isComposing) {
        first?.click();
      }
    });
    this.list.addEventListener("keydown", (event) => this.key(event));
  }

  /** @param current the session that is shown */
  open(current: string | undefined): void {
    this.current = current;
    this.filter.value = "";
    this.limit = ROWS;
    const search = textButton({
      label: t("Search in all"),
      icon: "search",
      className: "secondary",
      title: t("Search what was said in all sessions"),
      onClick: () => this.actions.runCommand("ullage.searchSessions", this.filter.value),
    });
    const fresh = textButton({
      label: t("New session"),
      icon: "add",
      className: "secondary",
      onClick: () => this.leave("ullage.newSession"),
    });
    const beside = textButton({
      label: t("New in a worktree"),
      icon: "git-branch",
      className: "secondary",
      title: t("A session whose agent works in a folder of its own, from the last commit"),
      onClick: () => this.leave("ullage.newSessionInWorktree"),
    });
    const others = textButton({
      label: t("From another program…"),
      icon: "arrow-swap",
      className: "secondary",
      title: t("Continue a session of Claude Code, Codex, Cline or OpenCode"),
      onClick: () => this.actions.runCommand("ullage.comeOver"),
    });
    const body = element(
      "div",
      { className: "sessions-sheet" },
      this.filter,
      element("div", { className: "button-row" }, fresh, beside, others, search),
      this.nothing,
      this.list,
      this.more,
    );
    this.isOpen = true;
    this.sheet.open({ title: t("Sessions"), body, closed: () => this.closed() });
    this.draw();
    void this.ask();
    this.filter.focus();
  }

  /** Another session is shown. */
  shows(current: string): void {
    if (this.isOpen && current !== this.current) {
      this.current = current;
      this.draw();
    }
  }

  /** Sessions were made, renamed or deleted. */
  listChanged(): void {
    if (this.isOpen) {
      clearTimeout(this.asking);
      this.asking = setTimeout(() => void this.ask(), ASK_AFTER);
    }
  }

  /** The rows stay where they are: one that moves is not where the user clicks. */
  figures(sessionId: string, figures: SessionFigures): void {
    const index = this.sessions.findIndex((each) => each.sessionId === sessionId);
    const known = this.sessions[index];
    if (known !== undefined) {
      const now = { ...known, figures };
      this.sessions = this.sessions.with(index, now);
      this.rows.get(sessionId)?.update(now, sessionId === this.current);
    }
  }

  private closed(): void {
    this.isOpen = false;
    clearTimeout(this.asking);
  }

  private async ask(): Promise<void> {
    try {
      const { sessions } = await this.actions.ask("ullage/session/list", {});
      this.sessions = sessions;
      if (this.isOpen) {
        this.draw();
      }
    } catch (error) {
      this.showError(error instanceof Error ? error.message : String(error));
    }
  }

  private draw(): void {
    const found = matching(this.sessions, this.filter.value);
    const shown = found.slice(0, this.limit);
    const left = found.length - shown.length;
    this.more.hidden = left === 0;
    this.more.lastElementChild?.replaceChildren(t("Show {count} more of {left}", { count: Math.min(ROWS, left), left }));
    const ids = new Set(shown.map(({ sessionId }) => sessionId));
    const focused = document.activeElement?.closest<HTMLElement>("[data-session-id]");
    const at = focused == null ? -1 : [...this.list.children].indexOf(focused);
    for (const [id, row] of this.rows) {
      if (!ids.has(id)) {
        row.element.remove();
        this.rows.delete(id);
      }
    }
    const inOrder = shown.map((summary) => {
      const row =
        this.rows.get(summary.sessionId) ?? new SessionRow(summary.sessionId, this.actions, (command, id) => this.leave(command, id));
      this.rows.set(summary.sessionId, row);
      row.update(summary, summary.sessionId === this.current);
      return row.element;
    });
    if (inOrder.some((row, index) => this.list.children[index] !== row)) {
      this.list.replaceChildren(...inOrder);
    }
    if (focused != null) {
      const row = focused.isConnected ? focused : this.list.children[Math.min(at, this.list.children.length - 1)];
      (row?.querySelector<HTMLElement>(".session-open") ?? this.filter).focus();
    }
    this.nothing.hidden = shown.length > 0 || this.sessions.length === 0;
    this.nothing.textContent = t("No session has these words in its title. “Search in all” looks through what was said.");
  }

  private showMore(): void {
    const first = this.limit;
    this.limit += ROWS;
    this.draw();
    this.list.children[first]?.querySelector<HTMLElement>(".session-open")?.focus();
  }

  private key(event: KeyboardEvent): void {
    const row = (event.target as Element).closest<HTMLElement>("[data-session-id]");
    const id = row?.dataset.sessionId;
    if (row === null || id === undefined || event.altKey || event.ctrlKey || event.metaKey) {
      return;
    }
    const rows = [...this.list.children];
    const at = rows.indexOf(row);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      (to < 0 ? this.filter : rows[Math.min(to, rows.length - 1)]?.querySelector<HTMLElement>(".session-open"))?.focus();
    } else if (event.key === "F2") {
      this.actions.runCommand("ullage.renameSession", id);
    } else if (event.key === "Delete") {
      this.actions.runCommand("ullage.deleteSession", id);
    }
  }

  /** What leads to another session closes the list. */
  private leave(
    command: "ullage.newSession" | "ullage.newSessionInWorktree" | "ullage.openSession" | "ullage.forkListed",
    sessionId?: string,
  ): void {
    this.sheet.close();
    this.actions.runCommand(command, sessionId);
  }
}

class SessionRow {
  readonly element: HTMLElement;
  private readonly mark = element("span", { className: "session-mark" });
  private readonly title = element("bdi", { className: "session-name" });
  private readonly age = element("span", { className: "session-age" });
  private readonly meter = element("span", { className: "session-meter", attributes: { "aria-hidden": "true" } }, element("i"));
  private readonly notes = element("span", { className: "session-notes" });
  private readonly lines = element("span", { className: "changes-lines" });
  private readonly open: HTMLButtonElement;
  private readonly fork: HTMLButtonElement;
  private drawn = "";

  constructor(
    sessionId: string,
    actions: Actions,
    leave: (command: "ullage.openSession" | "ullage.forkListed", sessionId: string) => void,
  ) {
    this.open = element(
      "button",
      { type: "button", className: "session-open", on: { click: () => leave("ullage.openSession", sessionId) } },
      element("span", { className: "session-line" }, this.mark, this.title, this.age),
      element("span", { className: "session-line session-second" }, this.meter, this.notes, this.lines),
    );
    this.fork = iconButton({ label: t("Fork"), icon: "repo-forked", onClick: () => leave("ullage.forkListed", sessionId) });
    const rename = iconButton({
      label: t("Rename"),
      title: t("Rename (F2)"),
      icon: "edit",
      onClick: () => actions.runCommand("ullage.renameSession", sessionId),
    });
    const remove = iconButton({
      label: t("Delete"),
      title: t("Delete (Delete)"),
      icon: "trash",
      onClick: () => actions.runCommand("ullage.deleteSession", sessionId),
    });
    const tools = element("div", { className: "session-tools" }, this.fork, rename, remove);
    this.element = element("li", { className: "session-row" }, this.open, tools);
    this.element.dataset.sessionId = sessionId;
  }

  update(summary: SessionSummary, isCurrent: boolean): void {
    const age = ageOf(summary.updatedAt, Date.now() / 1000);
    const drawn = JSON.stringify([summary, isCurrent, age]);
    if (drawn === this.drawn) {
      return;
    }
    this.drawn = drawn;
    const status = statusOf(summary);
    const title = visibleLine(titleOf(summary));
    const fullness = fullnessOf(summary);
    const notes = [...notesOf(summary, isCurrent), ...(fullness === undefined ? [] : [t("{share} full", { share: fullness.words })])];
    const files = openFilesOf(summary);
    this.element.dataset.status = status;
    this.element.toggleAttribute("data-current", isCurrent);
    setChildren(this.mark, status !== "idle" && icon(STATUSES[status].icon, status === "working" ? "codicon-modifier-spin" : ""));
    this.title.textContent = title;
    this.age.textContent = age;
    this.meter.hidden = fullness === undefined;
    (this.meter.firstElementChild as HTMLElement).style.width = `${Math.round(100 * (fullness?.share ?? 0))}%`;
    this.notes.textContent = [...notes, files].filter(Boolean).join(" · ");
    const { added, removed } = summary.figures ?? {};
    this.lines.hidden = files === "";
    drawLines(this.lines, { added: added ?? 0, removed: removed ?? 0 });
    this.open.title = title;
    this.open.setAttribute("aria-current", String(isCurrent));
    this.fork.hidden = summary.foreign === true;
  }
}
