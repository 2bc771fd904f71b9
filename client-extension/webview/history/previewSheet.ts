/** What a compaction would do now, before it is done: with a focus that can be changed, and then applied or left. */

import { t } from "../../src/l10n";
import type { Preview, PreviewCost, PreviewLine, RestoredFile } from "../../src/protocol";
import type { Actions } from "../actions";
import { element, icon, setChildren, textButton } from "../dom";
import { MarkdownView } from "../markdown/view";
import type { SessionView } from "../state";
import { isMessage, recordMarkdown, sortRestored } from "./compactionText";
import { countedFate, FATES, titleOf } from "./fates";
import { longList, type Sheet } from "./sheet";
import { breakEven, costRows, countFates, lineSizes, previewInWords, previewShares, previewSizes, previewWay } from "./sheetText";

export class PreviewSheet {
  private readonly focus = element("input", {
    className: "focus-field",
    id: "focus-field",
    type: "text",
    placeholder: t("what to keep"),
  });
  private readonly result = element("div", { className: "preview-result" });
  private readonly stale = element("p", { className: "preview-stale", attributes: { role: "status" } });
  private readonly again: HTMLButtonElement;
  private readonly apply: HTMLButtonElement;
  private readonly body: HTMLElement;
  private readonly foot: HTMLElement;
  /** Counts requests: only the answer to the newest is shown. */
  private asked = 0;
  private sessionId: string | undefined;
  private session: SessionView | undefined;
  /** What the context held when it was asked; undefined while nothing is shown. */
  private usedThen: number | undefined;

  constructor(
    private readonly actions: Actions,
    private readonly sheet: Sheet,
  ) {
    this.again = textButton({ label: t("Preview again"), className: "secondary", onClick: () => void this.load() });
    this.apply = textButton({
      label: t("Compact"),
      className: "primary",
      title: t("Compact now, with this focus"),
      onClick: () => this.commit(),
    });
    const cancel = textButton({ label: t("Cancel"), className: "secondary", onClick: () => void sheet.close() });
    const form = element(
      "div",
      { className: "focus-row" },
      element("label", { htmlFor: this.focus.id, className: "muted", textContent: t("Focus of the summary (optional)") }),
      this.focus,
      this.again,
    );
    this.focus.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) {
        event.preventDefault();
        void this.load();
      }
    });
    this.body = element("div", { className: "preview" }, form, this.stale, this.result);
    this.foot = element("div", { className: "sheet-foot button-row" }, this.apply, cancel);
  }

  open(focus: string, session: SessionView | undefined): void {
    this.focus.value = focus;
    this.session = session;
    this.sessionId = session?.sessionId;
    this.sheet.open({
      title: t("What compacting would do"),
      body: this.body,
      foot: this.foot,
      closed: () => {
        this.asked += 1;
        this.usedThen = undefined;
        this.result.replaceChildren();
      },
    });
    void this.load();
  }

  /** Says so where the conversation has gone on since. */
  update(session: SessionView): void {
    this.session = session;
    if (this.usedThen === undefined) {
      return;
    }
    if (session.sessionId !== this.sessionId) {
      this.sheet.close();
    } else if (session.gauge.used !== this.usedThen && this.stale.hidden) {
      this.stale.hidden = false;
      this.stale.textContent = t("The conversation has changed since this was looked at. Preview again to see what it would do now.");
    }
  }

  private async load(): Promise<void> {
    this.asked += 1;
    const asked = this.asked;
    const focus = this.focus.value.trim();
    this.stale.hidden = true;
    this.usedThen = undefined;
    this.apply.disabled = true;
    this.again.disabled = true;
    this.result.setAttribute("aria-busy", "true");
    if (!this.result.hasChildNodes()) {
      setChildren(this.result, message("loading", t("Looking at what it would do…"), "codicon-modifier-spin"));
    }
    try {
      const preview = await this.actions.ask("ullage/session/previewCompaction", focus === "" ? {} : { focus });
      if (asked === this.asked) {
        this.usedThen = this.session?.gauge.used;
        this.draw(preview);
      }
    } catch (error) {
      if (asked === this.asked) {
        setChildren(this.result, message("warning", error instanceof Error ? error.message : String(error)));
      }
    }
    if (asked === this.asked) {
      this.again.disabled = false;
      this.result.removeAttribute("aria-busy");
    }
  }

  private draw(preview: Preview): void {
    if (preview.nothing) {
      setChildren(this.result, message("pass", preview.nothing));
      return;
    }
    this.apply.disabled = false;
    const { again, named } = sortRestored(preview.restored);
    const markdown = new MarkdownView(this.actions);
    markdown.update(recordMarkdown(preview.summary));
    setChildren(
      this.result,
      drawHead(preview),
      preview.cost == null
        ? element("p", { className: "muted", textContent: t("The prices of this model are not known.") })
        : drawCost(preview.cost),
      again.length > 0 && this.drawRestored(t("Would be read again"), again),
      named.length > 0 && this.drawRestored(t("Would not be read again"), named),
      preview.summary !== "" && drawSummary(preview, markdown.element),
      this.drawLines(preview.lines),
    );
  }

  private drawRestored(title: string, restored: readonly RestoredFile[]): HTMLElement {
    const files = restored.map(({ path, note }) => {
      const open = element("button", { type: "button", className: "link-button", title: t("Open {path}", { path }), textContent: path });
      open.addEventListener("click", () => this.actions.openFile(path));
      return element("li", {}, open, note !== "" && element("span", { className: "muted", textContent: ` ${note}` }));
    });
    return element("section", {}, element("h3", { textContent: title }), element("ul", { className: "plain" }, ...files));
  }

  private drawLines(lines: readonly PreviewLine[]): HTMLElement {
    const counts = countFates(lines.filter(isMessage)).map(({ fate, count }) =>
      element("li", { className: `fate ${fate}`, title: FATES[fate].meaning }, icon(FATES[fate].icon), countedFate(fate, count)),
    );
    return element(
      "section",
      {},
      element(
        "div",
        { className: "lines-head" },
        element("h3", { textContent: t("Message by message") }),
        element("span", { className: "muted", textContent: t("tokens now → after") }),
      ),
      element("ul", { className: "fate-counts" }, ...counts),
      longList("preview-lines", t("What would become of each message"), lines, (line) => this.drawLine(line)),
    );
  }

  private drawLine(line: PreviewLine): HTMLElement {
    const { icon: symbol, word, meaning } = FATES[line.fate];
    return element(
      "li",
      { className: `fate-row ${line.fate}` },
      titleOf(line, this.actions),
      element("span", { className: "fate", title: meaning }, icon(symbol), word),
      element("span", { className: "number muted", textContent: lineSizes(line) }),
    );
  }

  private commit(): void {
    const focus = this.focus.value.trim();
    this.sheet.close();
    void this.actions.send("ullage/session/compact", focus === "" ? {} : { focus });
  }
}

function drawHead(preview: Preview): HTMLElement {
  return element(
    "div",
    { className: "preview-head" },
    element("strong", { className: "preview-sizes", textContent: previewSizes(preview) }),
    element("span", { className: "muted", textContent: previewShares(preview) }),
    element("p", { className: "preview-words", textContent: previewInWords(preview) }),
    element("div", { className: "muted preview-how", textContent: previewWay(preview) }),
  );
}

function drawCost(cost: PreviewCost): HTMLElement {
  const head = element(
    "tr",
    {},
    element("td", {}),
    element("th", { scope: "col", className: "number", textContent: t("as it is") }),
    element("th", { scope: "col", className: "number", textContent: t("compacted") }),
  );
  const rows = costRows(cost).map((row) =>
    element(
      "tr",
      {},
      element("th", { scope: "row", textContent: row.what }),
      element("td", { className: "number", textContent: row.without }),
      element("td", { className: "number", textContent: row.with }),
    ),
  );
  return element(
    "div",
    { className: "preview-cost" },
    element("table", { attributes: { "aria-label": t("What it costs") } }, element("thead", {}, head), element("tbody", {}, ...rows)),
    element("p", { className: "muted", textContent: [breakEven(cost), cost.estimate].filter(Boolean).join(" ") }),
  );
}

function drawSummary({ way }: Preview, text: HTMLElement): HTMLElement {
  const byModel = way === "model" || way === "api";
  return element(
    "details",
    { className: "preview-summary" },
    element("summary", { className: "fold" }, icon("chevron-right", "fold-mark"), t("Draft of the summary")),
    byModel &&
      element("p", { className: "muted", textContent: t("Written from the log, without a model. What the model writes is added to it.") }),
    text,
  );
}

function message(symbol: string, text: string, className = ""): HTMLElement {
  return element(
    "p",
    { className: "sheet-message", attributes: { role: "status" } },
    icon(symbol, className),
    element("span", { textContent: text }),
  );
}
