/** A compaction: why, how, what it saved, what the model keeps of the past, and the way back. */

import { t } from "../../src/l10n";
import type { Checked, CompactionItem, CompactionStatus, FetchedAgain, RestoredFile } from "../../src/protocol";
import type { Actions } from "../actions";
import { visibleLine } from "../../src/visible";
import { CHANGES, element, icon, setChildren, textButton } from "../dom";
import { MarkdownView } from "../markdown/view";
import {
  checkedInWords,
  compactionFacts,
  compactionReason,
  compactionSizes,
  compactionTitle,
  counted,
  fetchedAgainInWords,
  readAgainInWords,
  recordMarkdown,
  sortRestored,
} from "../history/compactionText";
import type { MakeItemView } from "./itemView";

const PROVED = t("What these messages used of what stood before them, and what the compaction leaves in view of it beside them");
const FORGOTTEN = t("The model had seen this before; the compaction took it out of view");

const ICONS: Record<CompactionStatus, string> = {
  in_progress: "loading codicon-modifier-spin",
  completed: "fold",
  failed: "error",
  cancelled: "circle-slash",
  undone: "discard",
};

export const makeCompactionView: MakeItemView<CompactionItem> = (item, actions) => {
  const root = element("article", { className: "item compaction", attributes: { "aria-label": t("Compaction") } });
  const summary = new MarkdownView(actions);
  summary.element.tabIndex = 0; // it scrolls by itself, so the keyboard has to get there
  summary.element.setAttribute("role", "region");
  summary.element.setAttribute("aria-label", t("Summary"));
  const details = element("details", { className: "compaction-details" });
  let about: string | undefined;
  const link = textButton({ label: t("Show it"), className: "link", onClick: () => about !== undefined && actions.showItem(about) });
  link.hidden = true;
  const update = (next: CompactionItem) => {
    root.className = `item compaction ${next.status}`;
    const atWayBack = root.querySelector(".compaction-head button")?.matches(":focus") === true;
    summary.update(recordMarkdown(next.summary));
    drawDetails(details, next, summary, actions);
    setChildren(
      root,
      drawHead(next, actions),
      element("div", { className: "compaction-reason" }, `${compactionReason(next)} `, link),
      next.checked != null && drawChecked(next.checked),
      next.fetchedAgain != null && drawFetchedAgain(next.fetchedAgain),
      next.error !== "" && element("div", { className: "compaction-error", textContent: next.error }),
      hasDetails(next) && details,
    );
    if (atWayBack) {
      // Undo has become Redo, or the other way: the focus stays.
      root.querySelector<HTMLElement>(".compaction-head button")?.focus();
    }
  };
  update(item);
  const showAbout = (itemId: string | undefined) => {
    about = itemId;
    link.hidden = itemId === undefined;
  };
  return { element: root, update, showAbout };
};

function drawHead(item: CompactionItem, actions: Actions): HTMLElement {
  return element(
    "div",
    { className: "compaction-head" },
    icon(ICONS[item.status], "compaction-icon"),
    element("strong", { textContent: compactionTitle(item) }),
    element("span", { className: "compaction-sizes", textContent: compactionSizes(item) }),
    wayBack(item, actions),
  );
}

function drawFetchedAgain(fetched: FetchedAgain): HTMLElement {
  return element("div", {
    className: "compaction-afterwards",
    textContent: t("Read again after this compaction: {fetched}", { fetched: fetchedAgainInWords(fetched) }),
    title: [FORGOTTEN, ...fetched.files].join("\n"),
  });
}

function drawChecked(checked: Checked): HTMLElement | false {
  const words = checkedInWords(checked);
  const { inView, used } = checked.characters;
  const again =
    used === 0
      ? ""
      : `\n${t("Of {used} characters that came from tools again meanwhile, {inView} would have been in view", { used, inView })}`;
  return words !== "" && element("div", { className: "compaction-checked", textContent: words, title: `${PROVED}${again}` });
}

function wayBack(item: CompactionItem, actions: Actions): HTMLElement | undefined {
  const compactionId = item.id;
  if (item.status === "completed") {
    return textButton({
      label: t("Undo"),
      className: `quiet ${CHANGES}`,
      title: t("Give the model back what it saw before"),
      onClick: () => void actions.send("ullage/session/undoCompaction", { compactionId }),
    });
  }
  if (item.status === "undone") {
    return textButton({
      label: t("Redo"),
      className: `quiet ${CHANGES}`,
      title: t("Compact again as it was"),
      onClick: () => void actions.send("ullage/session/redoCompaction", { compactionId }),
    });
  }
  return undefined;
}

function hasDetails(item: CompactionItem): boolean {
  return item.summary !== "" || item.restored.length > 0 || item.skipped.length > 0 || compactionFacts(item).length > 0;
}

function drawDetails(details: HTMLElement, item: CompactionItem, summary: MarkdownView, actions: Actions): void {
  const { again, named } = sortRestored(item.restored);
  const drawFile = ({ path, note }: RestoredFile) => {
    const open = element("button", { type: "button", className: "link-button", title: t("Open {path}", { path }), textContent: path });
    open.addEventListener("click", () => actions.openFile(path));
    return element("li", {}, open, note !== "" && element("span", { className: "muted", textContent: ` ${note}` }));
  };
  setChildren(
    details,
    element("summary", { className: "fold" }, icon("chevron-right", "fold-mark"), detailsTitle(item)),
    element("div", { className: "compaction-facts", textContent: compactionFacts(item).join(" · ") }),
    again.length > 0 && section(t("Read again"), element("ul", {}, ...again.map(drawFile))),
    named.length > 0 && section(t("Not read again"), element("ul", {}, ...named.map(drawFile))),
    item.skipped.length > 0 &&
      section(t("Did not work"), element("ul", {}, ...item.skipped.map((why) => element("li", { textContent: why })))),
    item.summary !== "" && section(t("Summary"), summary.element),
    item.nearby != null && drawNearby(item.nearby, details.querySelector<HTMLDetailsElement>(".compaction-nearby")?.open === true),
  );
}

/** Folded: the agent looks things up in it, and nobody reads it from top to bottom. */
function drawNearby(lines: readonly string[], isOpen: boolean): HTMLElement {
  const title = counted(lines.length, t("Told of by name: files in {count} folder"), t("Told of by name: files in {count} folders"));
  return element(
    "details",
    { className: "compaction-nearby", open: isOpen },
    element(
      "summary",
      { className: "fold", title: t("Files near the work that were not read again") },
      icon("chevron-right", "fold-mark"),
      title,
    ),
    element("ul", {}, ...lines.map((line) => element("li", { textContent: visibleLine(line) }))),
  );
}

function detailsTitle(item: CompactionItem): string {
  return [item.summary === "" ? t("Details") : t("Summary"), readAgainInWords(item.restored)].filter(Boolean).join(", ");
}

function section(title: string, content: HTMLElement): HTMLElement {
  return element("section", {}, element("h2", { textContent: title }), content);
}
