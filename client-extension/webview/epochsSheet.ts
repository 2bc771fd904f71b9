/** The timeline of a session: its epochs, newest first, and what became of each message, with the way back. */

import type { Epoch, ItemFate } from "../src/protocol";
import type { Actions } from "./actions";
import { element, icon, setChildren, textButton } from "./dom";
import { epochFacts, epochState, fatesInWords, meaningsOf, wordsOf } from "./epochText";
import { titleOf } from "./fateRow";
import { longList } from "./longList";
import type { Sheet } from "./sheet";
import type { History, SessionView } from "./state";

export class EpochsSheet {
  private readonly body = element("div", { className: "epochs" });
  private isOpen = false;
  private drawn: History | undefined;
  private sessionId: string | undefined;
  /** Epochs whose messages the user has unfolded, by number. */
  private readonly unfolded = new Set<number>();

  /** @param reading called with whether the list is read, so that it is kept up to date and has titles. */
  constructor(
    private readonly actions: Actions,
    private readonly sheet: Sheet,
    private readonly reading: (isRead: boolean) => void,
  ) {}

  open(session: SessionView | undefined): void {
    this.isOpen = true;
    this.drawn = undefined;
    this.sessionId = session?.sessionId;
    this.unfolded.clear();
    setChildren(this.body, waiting());
    this.sheet.open({
      title: "Timeline",
      body: this.body,
      closed: () => {
        this.isOpen = false;
        this.drawn = undefined;
        this.body.replaceChildren();
        this.reading(false);
      },
    });
    this.reading(true);
  }

  update(session: SessionView): void {
    if (!this.isOpen) {
      return;
    }
    if (session.sessionId !== this.sessionId) {
      this.sheet.close();
      return;
    }
    const { history } = session;
    // What was asked for before the list was opened has no titles.
    if (history === undefined || history === this.drawn || history.fates.some(({ title }) => title == null)) {
      return;
    }
    this.drawn = history;
    this.draw(history);
  }

  private draw({ epochs, fates }: History): void {
    const { scrollTop } = this.body;
    const focused = document.activeElement instanceof HTMLElement && this.body.contains(document.activeElement) && document.activeElement;
    const epochNumber = focused && focused.closest<HTMLElement>(".epoch")?.dataset.number;
    const newest = epochs.toReversed();
    const list = longList("epoch-list", "Epochs, newest first", newest, (epoch) => this.drawEpoch(epoch, fates));
    const about =
      epochs.length === 1
        ? "Nothing was compacted yet: the model sees all that was said."
        : "An epoch lasts from one compaction to the next. Nothing is lost: each can be undone and done again.";
    setChildren(this.body, element("p", { className: "muted", textContent: about }), list);
    this.body.scrollTop = scrollTop;
    if (focused && !this.body.contains(document.activeElement)) {
      // Undo has become Redo, or the other way: the focus stays at the epoch.
      const wayBack = this.body.querySelector<HTMLElement>(`.epoch[data-number="${epochNumber ?? ""}"] .epoch-head button`);
      (wayBack ?? this.sheet.element).focus();
    }
  }

  private drawEpoch(epoch: Epoch, fates: readonly ItemFate[]): HTMLElement {
    const undone = epoch.status === "undone";
    const state = epochState(epoch);
    const facts = epochFacts(epoch).map(({ name, text }) => drawFact(name, text));
    return element(
      "li",
      {
        className: `epoch ${undone ? "undone" : ""} ${epoch.current ? "current" : ""}`,
        attributes: { "data-number": `${epoch.number}`, ...(epoch.current && { "aria-current": "true" }) },
      },
      element(
        "div",
        { className: "epoch-head" },
        element("strong", { textContent: `Epoch ${epoch.number}` }),
        state !== "" && element("span", { className: "epoch-state", textContent: state }),
        this.wayBack(epoch),
      ),
      element("dl", { className: "epoch-facts" }, ...facts, this.drawRestored(epoch)),
      this.drawFates(epoch, fates),
    );
  }

  private wayBack({ compactionId, status, number }: Epoch): HTMLElement | undefined {
    if (compactionId == null) {
      return undefined;
    }
    const verb = status === "undone" ? "redo" : "undo";
    const button = textButton({
      label: verb === "undo" ? "Undo" : "Redo",
      className: "quiet",
      title: verb === "undo" ? "Give the model back what it saw before" : "Compact again as it was",
      onClick: () => void this.actions.send(`ullage/session/${verb}Compaction`, { compactionId }),
    });
    button.setAttribute("aria-label", `${verb === "undo" ? "Undo" : "Redo"} compaction ${number}`);
    return button;
  }

  private drawRestored({ restored }: Epoch): HTMLElement | undefined {
    if (restored == null || restored.length === 0) {
      return undefined;
    }
    const links = restored.map(({ path, note }) => {
      const link = element(
        "button",
        { type: "button", className: "link-button", title: `Open ${path}${note === "" ? "" : ` (${note})`}` },
        path,
      );
      link.addEventListener("click", () => this.actions.openFile(path));
      return link;
    });
    return drawFact("Read again", ...links);
  }

  /** What this compaction did to which message; drawn when it is unfolded. */
  private drawFates(epoch: Epoch, fates: readonly ItemFate[]): HTMLElement | undefined {
    const mine = withoutRepeats(fates.filter(({ compactionId }) => (compactionId ?? undefined) === (epoch.compactionId ?? undefined)));
    if (mine.length === 0) {
      return undefined;
    }
    const details = element(
      "details",
      { className: "epoch-fates" },
      element("summary", { className: "fold" }, icon("chevron-right", "fold-mark"), fatesInWords(mine, epoch)),
    );
    const unfold = () => {
      if (details.open && details.childElementCount === 1) {
        details.append(
          longList("fate-list", "What became of each message", mine, (fate) => this.drawFate(fate, epoch)),
          element(
            "div",
            { className: "epoch-meanings muted" },
            ...meaningsOf(mine, epoch).map((text) => element("p", { textContent: text })),
          ),
        );
      }
      this.unfolded[details.open ? "add" : "delete"](epoch.number);
    };
    details.addEventListener("toggle", unfold);
    details.open = this.unfolded.has(epoch.number);
    if (details.open) {
      unfold();
    }
    return details;
  }

  private drawFate({ itemId, fate, role, title }: ItemFate, epoch: Epoch): HTMLElement {
    const { icon: symbol, word, meaning } = wordsOf(fate, epoch);
    return element(
      "li",
      { className: `fate-row ${fate}` },
      titleOf({ itemId, role: role ?? "user", title: title ?? "" }, this.actions),
      element("span", { className: "fate", title: meaning }, icon(symbol), word),
    );
  }
}

/** A word and what it is about, in one line of a list of facts. */
function drawFact(name: string, ...what: (string | HTMLElement)[]): HTMLElement {
  return element("div", {}, element("dt", { textContent: name }), element("dd", {}, ...what));
}

/** Thinking and text of one reply go the same way: one line is enough. */
function withoutRepeats(fates: readonly ItemFate[]): readonly ItemFate[] {
  return fates.filter((fate, index) => {
    const next = fates[index + 1];
    return next === undefined || replyOf(fate) === undefined || replyOf(fate) !== replyOf(next);
  });
}

function replyOf({ itemId }: ItemFate): string | undefined {
  return /^(.+)\.\d+$/.exec(itemId)?.[1];
}

function waiting(): HTMLElement {
  return element(
    "p",
    { className: "sheet-message", attributes: { role: "status" } },
    icon("loading", "codicon-modifier-spin"),
    element("span", { textContent: "Reading the log…" }),
  );
}
