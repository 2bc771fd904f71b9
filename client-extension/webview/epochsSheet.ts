/** The timeline of a session: its epochs, newest first, and what became of each message, with the way back. */

import type { Epoch, RestoredFile } from "../src/protocol";
import type { Actions } from "./actions";
import { element, icon, setChildren, textButton } from "./dom";
import { EpochFatesView, type Unfolded } from "./epochFates";
import { epochFacts, epochState } from "./epochText";
import { BY_HAND } from "./fates";
import { longList } from "./longList";
import { sortRestored } from "./restoredText";
import type { Sheet } from "./sheet";
import type { History, SessionView } from "./state";

export class EpochsSheet {
  private readonly body = element("div", { className: "epochs" });
  private isOpen = false;
  private drawn: History | undefined;
  private sessionId: string | undefined;
  private unfolded: Unfolded = { open: new Set(), read: new Map() };

  /** @param opened called when somebody begins to read the list, so that it is up to date. */
  constructor(
    private readonly actions: Actions,
    private readonly sheet: Sheet,
    private readonly opened: () => void,
  ) {}

  open(session: SessionView | undefined): void {
    this.isOpen = true;
    this.drawn = undefined;
    this.sessionId = session?.sessionId;
    this.unfolded = { open: new Set(), read: new Map() };
    setChildren(this.body, waiting());
    this.sheet.open({
      title: "Timeline",
      body: this.body,
      closed: () => {
        this.isOpen = false;
        this.drawn = undefined;
        this.body.replaceChildren();
      },
    });
    this.opened();
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
    if (history === undefined || history === this.drawn) {
      return;
    }
    this.drawn = history;
    this.draw(history);
  }

  private draw({ epochs }: History): void {
    const { scrollTop } = this.body;
    const focused = document.activeElement instanceof HTMLElement && this.body.contains(document.activeElement) && document.activeElement;
    const epochNumber = focused && focused.closest<HTMLElement>(".epoch")?.dataset.number;
    const newest = epochs.toReversed();
    const byHand = new Set(
      epochs.flatMap(({ policy, compactionId }) => (policy === BY_HAND && compactionId != null ? [compactionId] : [])),
    );
    const list = longList("epoch-list", "Epochs, newest first", newest, (epoch) => this.drawEpoch(epoch, byHand));
    const about =
      epochs.length === 1
        ? "Nothing was compacted yet: the model sees everything."
        : "An epoch lasts from one compaction to the next. Nothing is lost: each can be undone and done again.";
    setChildren(this.body, element("p", { className: "muted", textContent: about }), list);
    this.body.scrollTop = scrollTop;
    if (focused && !this.body.contains(document.activeElement)) {
      // Undo has become Redo, or the other way: the focus stays at the epoch.
      const wayBack = this.body.querySelector<HTMLElement>(`.epoch[data-number="${epochNumber ?? ""}"] .epoch-head button`);
      (wayBack ?? this.sheet.element).focus();
    }
  }

  private drawEpoch(epoch: Epoch, byHand: ReadonlySet<string>): HTMLElement {
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
      element("dl", { className: "epoch-facts" }, ...facts, ...this.drawFiles(epoch)),
      new EpochFatesView(this.actions, epoch, byHand, this.unfolded).element,
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

  private drawFiles({ restored }: Epoch): (HTMLElement | undefined)[] {
    const { again, named } = sortRestored(restored ?? []);
    return [this.drawRestored("Read again", again), this.drawRestored("Not read again", named)];
  }

  private drawRestored(name: string, files: readonly RestoredFile[]): HTMLElement | undefined {
    if (files.length === 0) {
      return undefined;
    }
    const links = files.map(({ path, note }) => {
      const link = element(
        "button",
        { type: "button", className: "link-button", title: `Open ${path}${note === "" ? "" : ` (${note})`}` },
        path,
      );
      link.addEventListener("click", () => this.actions.openFile(path));
      return link;
    });
    return drawFact(name, ...links);
  }
}

/** A word and what it is about, in one line of a list of facts. */
function drawFact(name: string, ...what: (string | HTMLElement)[]): HTMLElement {
  return element("div", {}, element("dt", { textContent: name }), element("dd", {}, ...what));
}

function waiting(): HTMLElement {
  return element(
    "p",
    { className: "sheet-message", attributes: { role: "status" } },
    icon("loading", "codicon-modifier-spin"),
    element("span", { textContent: "Reading the log…" }),
  );
}
