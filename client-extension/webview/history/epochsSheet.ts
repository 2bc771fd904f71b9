/**
 * The timeline of a session: its epochs, newest first, with the way back. What became of the messages of an epoch is read from the server when it is
 * unfolded: what was done to which and, folded, what stayed.
 */

import { t } from "../../src/l10n";
import type { Epoch, EpochFates, FateGroup, ItemFate, RestoredFile } from "../../src/protocol";
import type { Actions } from "../actions";
import { element, icon, setChildren, textButton } from "../dom";
import type { History, SessionView } from "../state";
import { sortRestored } from "./compactionText";
import { BY_HAND, titleOf } from "./fates";
import { longList, pagedList, type Sheet } from "./sheet";
import { epochFacts, epochState, foldInWords, groupInWords, meaningsOf, wordsOf } from "./sheetText";

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
      title: t("Timeline"),
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
    const list = longList("epoch-list", t("Epochs, newest first"), newest, (epoch) => this.drawEpoch(epoch, byHand));
    const about =
      epochs.length === 1
        ? t("Nothing was compacted yet: the model sees everything.")
        : t("An epoch lasts from one compaction to the next. Nothing is lost: each can be undone and done again.");
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
        element("strong", { textContent: t("Epoch {number}", { number: epoch.number }) }),
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
      label: verb === "undo" ? t("Undo") : t("Redo"),
      className: "quiet",
      title: verb === "undo" ? t("Give the model back what it saw before") : t("Compact again as it was"),
      onClick: () => void this.actions.send(`ullage/session/${verb}Compaction`, { compactionId }),
    });
    button.setAttribute(
      "aria-label",
      verb === "undo" ? t("Undo compaction {number}", { number }) : t("Redo compaction {number}", { number }),
    );
    return button;
  }

  private drawFiles({ restored }: Epoch): (HTMLElement | undefined)[] {
    const { again, named } = sortRestored(restored ?? []);
    return [this.drawRestored(t("Read again"), again), this.drawRestored(t("Not read again"), named)];
  }

  private drawRestored(name: string, files: readonly RestoredFile[]): HTMLElement | undefined {
    if (files.length === 0) {
      return undefined;
    }
    const links = files.map(({ path, note }) => {
      const link = element(
        "button",
        {
          type: "button",
          className: "link-button",
          title: note === "" ? t("Open {path}", { path }) : t("Open {path} ({note})", { path, note }),
        },
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
    element("span", { textContent: t("Reading the log…") }),
  );
}

/** What the timeline keeps of what is drawn anew whenever a compaction was made or undone. */
export interface Unfolded {
  /** Folds that are open: the number of the epoch and the group. */
  open: Set<string>;
  /** What was read last, so that nothing jumps until it is read anew. */
  read: Map<string, EpochFates>;
}

/** What became of the messages of one epoch. */
class EpochFatesView {
  readonly element: HTMLElement;

  /** @param byHand the compactions with which the user took something out. */
  constructor(
    private readonly actions: Actions,
    private readonly epoch: Epoch,
    private readonly byHand: ReadonlySet<string>,
    private readonly unfolded: Unfolded,
  ) {
    this.element = this.fold("changed", foldInWords(epoch), (fates) => this.drawChanged(fates));
  }

  private drawChanged(fates: EpochFates): HTMLElement[] {
    const meanings = meaningsOf(fates.fates, this.byHand);
    if (fates.changed === 0 && fates.before === 0) {
      this.unfolded.open.add(this.key("kept")); // there is nothing else to see
    }
    return [
      ...(fates.changed > 0 ? [this.list("changed", fates)] : []),
      ...(["kept", "before"] as const)
        .filter((group) => fates[group] > 0)
        .map((group) => this.fold(group, groupInWords(group, fates[group]), (page) => [this.list(group, page)])),
      ...(meanings.length > 0
        ? [element("div", { className: "epoch-meanings muted" }, ...meanings.map((text) => element("p", { textContent: text })))]
        : []),
    ];
  }

  /** A part that is asked for when it is unfolded. */
  private fold(group: FateGroup, label: string, draw: (fates: EpochFates) => HTMLElement[]): HTMLElement {
    const key = this.key(group);
    const body = element("div", {});
    const details = element(
      "details",
      { className: "epoch-fates" },
      element("summary", { className: "fold" }, icon("chevron-right", "fold-mark"), label),
      body,
    );
    let asked = false;
    const unfold = async () => {
      this.unfolded.open[details.open ? "add" : "delete"](key);
      if (!details.open || asked) {
        return;
      }
      asked = true;
      const known = this.unfolded.read.get(key);
      setChildren(body, ...(known === undefined ? [message(t("Reading the log…"))] : draw(known)));
      try {
        const fates = await this.ask(group, 0);
        this.unfolded.read.set(key, fates);
        if (JSON.stringify(fates) !== JSON.stringify(known)) {
          setChildren(body, ...draw(fates));
        }
      } catch (error) {
        asked = false;
        setChildren(body, message(error instanceof Error ? error.message : String(error)));
      }
    };
    details.addEventListener("toggle", () => void unfold());
    details.open = this.unfolded.open.has(key);
    if (details.open) {
      void unfold();
    }
    return details;
  }

  private key(group: FateGroup): string {
    return `${this.epoch.number}.${group}`;
  }

  private ask(group: FateGroup, offset: number): Promise<EpochFates> {
    return this.actions.ask("ullage/session/epochFates", { number: this.epoch.number, group, offset });
  }

  private list(group: FateGroup, page: EpochFates): HTMLElement {
    return pagedList({
      className: "fate-list",
      label: t("What became of each message: {group}", { group: groupInWords(group, page[group]) }),
      total: page[group],
      first: page.fates,
      more: async (offset) => (await this.ask(group, offset)).fates,
      draw: (fate) => this.row(fate),
    });
  }

  private row(fate: ItemFate): HTMLElement {
    const { icon: symbol, word, meaning } = wordsOf(fate, this.byHand);
    const again = fate.restored != null;
    return element(
      "li",
      { className: `fate-row ${fate.fate}` },
      titleOf({ itemId: fate.itemId, role: fate.role ?? "user", title: fate.title ?? "" }, this.actions),
      element(
        "span",
        { className: "fate", title: again ? t("{meaning}; {file} was read again", { meaning, file: fate.restored ?? "" }) : meaning },
        icon(symbol),
        !again ? word : t("{word}, read again", { word }),
      ),
    );
  }
}

function message(text: string): HTMLElement {
  return element("p", { className: "muted", textContent: text, attributes: { role: "status" } });
}
