/** What became of the messages of one epoch, read from the server when it is unfolded: what was done to which, and, folded, what stayed. */

import type { Epoch, EpochFates, FateGroup, ItemFate } from "../src/protocol";
import type { Actions } from "./actions";
import { element, icon, setChildren } from "./dom";
import { foldInWords, groupInWords, meaningsOf, wordsOf } from "./epochText";
import { titleOf } from "./fateRow";
import { pagedList } from "./pagedList";

/** What the timeline keeps of what is drawn anew whenever a compaction was made or undone. */
export interface Unfolded {
  /** Folds that are open: the number of the epoch and the group. */
  open: Set<string>;
  /** What was read last, so that nothing jumps until it is read anew. */
  read: Map<string, EpochFates>;
}

export class EpochFatesView {
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
      setChildren(body, ...(known === undefined ? [message("Reading the log…")] : draw(known)));
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
      label: `What became of each message: ${groupInWords(group, page[group])}`,
      total: page[group],
      first: page.fates,
      more: async (offset) => (await this.ask(group, offset)).fates,
      draw: (fate) => this.row(fate),
    });
  }

  private row(fate: ItemFate): HTMLElement {
    const { icon: symbol, word, meaning } = wordsOf(fate, this.byHand);
    const again = fate.restored == null ? "" : `; ${fate.restored} was read again`;
    return element(
      "li",
      { className: `fate-row ${fate.fate}` },
      titleOf({ itemId: fate.itemId, role: fate.role ?? "user", title: fate.title ?? "" }, this.actions),
      element("span", { className: "fate", title: `${meaning}${again}` }, icon(symbol), again === "" ? word : `${word}, read again`),
    );
  }
}

function message(text: string): HTMLElement {
  return element("p", { className: "muted", textContent: text, attributes: { role: "status" } });
}
