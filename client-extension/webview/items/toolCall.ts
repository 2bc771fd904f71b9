/** A tool call: a line that says what is done, and below it, folded, what went in and what came out. */

import { t } from "../../src/l10n";
import { linesSpoken } from "../../src/review/reviewText";
import type { FileDiff, ToolCallItem, ToolStatus } from "../../src/protocol";
import type { Actions } from "../actions";
import { element, growText, icon, setChildren } from "../dom";
import { drawApproval } from "./approval";
import { AgentView, TASK } from "./agent";
import { GoesOnView } from "./goesOn";
import { drawAnswers, drawQuestions } from "./question";
import { changedLine, drawDiff, drawUnified, showFirstChange } from "./diff";
import { MarkdownView } from "../markdown/view";
import type { ItemView } from "./itemView";
import { drawMedia } from "./texts";
import { iconOf, isOver, statusOf } from "./callStatus";
import { visibleLine, visibleText } from "../../src/visible";
import { durationInWords, formatDollars } from "../../src/format";
import {
  acceptedPlan,
  commandOf,
  describeInput,
  type FoundPages,
  foundIn,
  plainOutput,
  planOf,
  PROPOSE_PLAN,
  proposedDiff,
  WEB_SEARCH,
  yourChanges,
} from "./toolText";

/** A title that is unfolded breaks its lines behind the slashes of a path first. */
function breakable(title: string): (string | HTMLElement)[] {
  return title.split(/(?<=[/\\])/).flatMap((part, place) => (place === 0 ? [part] : [element("wbr"), part]));
}

/** While these last, the card is unfolded by itself. */
const UNFOLDED = new Set<ToolStatus>(["awaiting_permission", "awaiting_answer", "running"]);

export function makeToolCallView(item: ToolCallItem, actions: Actions): ItemView<ToolCallItem> {
  return new ToolCallView(item, actions);
}

class ToolCallView implements ItemView<ToolCallItem> {
  readonly element: HTMLElement;
  private item: ToolCallItem;
  private open = false;
  /** The user folded or unfolded it: from then on it stays as they left it. */
  private chosen = false;
  private drawnDiff: FileDiff | undefined;
  private drawnLinks = "";
  private drawnYours: string | undefined;
  private askedFor: string | undefined;
  private questionsFor: string | undefined;
  private isDrawn = false;
  /** The end of the output is kept in sight, until the user scrolls away from it. */
  private followsOutput = true;

  private readonly kindIcon = element("span");
  private readonly title = element("span", { className: "tool-title" });
  private readonly changes = element("span", { className: "tool-changes" });
  private readonly duration = element("span", { className: "tool-duration" });
  private readonly statusIcon = element("span", { className: "tool-status" });
  private readonly header = element("button", { type: "button", className: "tool-header" });
  private readonly body = element("div", { className: "tool-body" });
  private readonly media = element("div", { className: "media", hidden: true });
  private readonly input = element("pre", {
    className: "tool-input",
    tabIndex: 0,
    attributes: { role: "group", "aria-label": t("Input") },
  });
  private readonly output = element("pre", {
    className: "tool-output",
    tabIndex: 0,
    attributes: { role: "group", "aria-label": t("Output") },
  });
  private readonly outputText = document.createTextNode("");
  private readonly inputText = document.createTextNode("");
  private readonly plan: MarkdownView;
  private readonly diff = element("div", { className: "tool-diff" });
  private readonly yours = element("div", { className: "tool-yours", hidden: true });
  private readonly pages = element("div", { className: "tool-pages", hidden: true });
  private readonly links = element("div", { className: "tool-links" });
  private readonly approval = element("div");
  private readonly questions = element("div");
  private readonly answers = element("div", { hidden: true });
  private readonly agent: AgentView;
  private readonly goesOn: GoesOnView;

  constructor(
    item: ToolCallItem,
    private readonly actions: Actions,
  ) {
    this.item = item;
    this.agent = new AgentView(actions);
    this.goesOn = new GoesOnView(actions, item);
    this.plan = new MarkdownView(actions);
    this.plan.element.classList.add("tool-plan");
    this.output.append(this.outputText);
    this.output.addEventListener("scroll", () => {
      this.followsOutput = this.output.scrollHeight - this.output.scrollTop - this.output.clientHeight < 20;
    });
    this.input.append(this.inputText);
    this.header.append(icon("chevron-right", "fold-mark"), this.kindIcon, this.title, this.changes, this.duration, this.statusIcon);
    this.header.addEventListener("click", () => this.toggle());
    this.body.append(
      this.input,
      this.plan.element,
      this.diff,
      this.yours,
      this.pages,
      this.output,
      this.links,
      this.approval,
      this.questions,
    );
    this.element = element("article", { className: "item tool" });
    this.element.append(this.header, this.agent.element, this.goesOn.element, this.media, this.answers, this.body);
    this.update(item);
  }

  update(item: ToolCallItem): void {
    const { status, title, name, toolKind } = this.item;
    const isNews = !this.isDrawn || item.status !== status || item.title !== title || item.name !== name || item.toolKind !== toolKind;
    this.isDrawn = true;
    this.item = item;
    if (!this.chosen) {
      const says = item.name === TASK && item.status === "running"; // its line says what it does
      const unfolds = UNFOLDED.has(item.status) && !says;
      this.open = unfolds || (item.status === "completed" && (item.diff != null || item.name === PROPOSE_PLAN));
    }
    if (isNews) {
      this.drawHeader();
    }
    this.agent.update(item);
    this.goesOn.update(item);
    this.drawMedia();
    this.drawBody();
  }

  /** It never changes once it is there. */
  private drawMedia(): void {
    const shown = this.item.media ?? [];
    if (this.media.childElementCount !== shown.length) {
      setChildren(this.media, ...drawMedia(shown, this.actions));
      this.media.hidden = shown.length === 0;
    }
  }

  private toggle(): void {
    this.chosen = true;
    this.open = !this.open;
    this.drawHeader();
    this.drawBody();
  }

  private drawHeader(): void {
    const { title, name, status } = this.item;
    this.element.className = `item tool ${status}`;
    this.header.setAttribute("aria-expanded", String(this.open));
    this.kindIcon.className = `codicon codicon-${iconOf(this.item)} tool-kind`;
    const shown = visibleLine(title || name);
    if (this.title.textContent !== shown) {
      setChildren(this.title, ...breakable(shown));
      this.title.title = shown;
    }
    const { seconds, cost } = this.item;
    this.duration.textContent = [durationInWords(seconds), cost == null ? "" : formatDollars(cost)].filter(Boolean).join(" · ");
    const mark = statusOf(this.item);
    this.statusIcon.className = `codicon codicon-${mark.icon} tool-status ${mark.name}`;
    this.statusIcon.title = [mark.label, this.duration.textContent].filter(Boolean).join(", ");
    this.statusIcon.setAttribute("role", "img");
    this.statusIcon.setAttribute("aria-label", mark.label);
  }

  private drawBody(): void {
    this.drawDiff();
    this.body.hidden = !this.open;
    if (this.open) {
      this.drawPlan();
      this.drawInput();
      this.drawOutput();
      this.drawYours();
      this.drawLinks();
    }
    this.drawApproval();
    this.drawQuestions();
  }

  /** As it was proposed; once it is accepted, as that was. */
  private drawPlan(): void {
    const { name, input, output, status } = this.item;
    const plan = name !== PROPOSE_PLAN ? undefined : status === "completed" ? acceptedPlan(output) : planOf(input);
    this.plan.element.hidden = plan === undefined;
    this.plan.update(plan ?? "");
  }

  /** A diff says all that the input says; a command is shown as one would type it, unless the title has all of it. */
  private drawInput(): void {
    const command = commandOf(this.item.input);
    const text = visibleText(command === undefined ? describeInput(this.item.input) : `$ ${command}`);
    const inTitle = text === this.item.title && this.item.status !== "awaiting_permission"; // which may be cut where the card is narrow
    this.input.hidden =
      this.item.status === "awaiting_answer" ||
      this.drawnDiff !== undefined ||
      !this.plan.element.hidden ||
      text === "" ||
      text === "{}" ||
      inTitle;
    growText(this.inputText, text);
  }

  private drawOutput(): void {
    const found = this.item.name === WEB_SEARCH && isOver(this.item.status) ? foundIn(this.item.output) : undefined;
    this.drawPages(found);
    const text = found?.report ?? plainOutput(this.item.output);
    const isShown = this.item.diff != null || !this.plan.element.hidden;
    this.output.hidden = text.trim() === "" || (isShown && this.item.status === "completed");
    growText(this.outputText, text.replace(/\n$/, ""));
    if (this.followsOutput && this.item.status === "running") {
      // When all of the frame is drawn: where it is scrolled to has the page laid out.
      queueMicrotask(() => (this.output.scrollTop = this.output.scrollHeight));
    }
  }

  /** The pages that a search found, each with its host: a title can say anything. */
  private drawPages(found: FoundPages | undefined): void {
    this.pages.hidden = found === undefined || found.pages.length === 0;
    if (this.pages.childElementCount > 0 || found === undefined) {
      return;
    }
    const rows = found.pages.map(({ title, url, host, age }) => {
      const link = element("a", { textContent: visibleLine(title), title: url, attributes: { href: url } });
      link.addEventListener("click", (event) => {
        event.preventDefault();
        this.actions.openLink(url);
      });
      const where = element("span", { className: "page-host", textContent: [host, visibleLine(age)].filter(Boolean).join(" · ") });
      return element("li", {}, link, where);
    });
    setChildren(this.pages, element("ol", { attributes: { "aria-label": t("Pages found") } }, ...rows));
  }

  /** What was changed; before that, from the approval on, what is about to be. Nothing if it came to nothing. */
  private drawDiff(): void {
    const { diff: made, toolKind, status, input } = this.item;
    const diff = made ?? (toolKind === "edit" && UNFOLDED.has(status) ? proposedDiff(input) : undefined);
    if (isSameDiff(diff, this.drawnDiff)) {
      return;
    }
    this.drawnDiff = diff;
    if (diff === undefined) {
      setChildren(this.diff);
      setChildren(this.changes);
      this.changes.removeAttribute("aria-label");
      return;
    }
    const drawn = drawDiff(diff);
    setChildren(this.diff, drawn.element);
    setChildren(
      this.changes,
      element("span", { className: "added", textContent: `+${drawn.added}` }),
      element("span", { className: "removed", textContent: `−${drawn.removed}` }),
    );
    this.changes.setAttribute("aria-label", linesSpoken(drawn));
    if (status === "awaiting_permission") {
      queueMicrotask(() => showFirstChange(drawn.element)); // as above
    }
  }

  /** Once it is written: that the user changed the proposal before they accepted it, and, unfolded, what. */
  private drawYours(): void {
    const { output, status, toolKind } = this.item;
    const yours = status === "completed" && toolKind === "edit" ? yourChanges(output) : undefined;
    if (yours === this.drawnYours) {
      return;
    }
    this.drawnYours = yours;
    this.yours.hidden = yours === undefined;
    const label = [icon("account"), element("span", { textContent: t("Accepted with your changes") })];
    setChildren(
      this.yours,
      yours === undefined
        ? false
        : yours === ""
          ? element("div", { className: "fold" }, ...label)
          : element(
              "details",
              {},
              element(
                "summary",
                { className: "fold", title: t("What you changed in the proposal") },
                icon("chevron-right", "fold-mark"),
                ...label,
              ),
              drawUnified(yours, t("What you changed in the proposal")).element,
            ),
    );
  }

  private drawLinks(): void {
    const { fullOutput, document } = this.item;
    const diff = this.drawnDiff;
    const drawn = JSON.stringify([diff?.path, fullOutput, document, diff !== undefined && this.isToBeMade(diff)]);
    if (drawn === this.drawnLinks) {
      return;
    }
    this.drawnLinks = drawn;
    setChildren(
      this.links,
      diff !== undefined && !this.isToBeMade(diff) && this.fileLink(t("Open {path}", { path: diff.path }), diff.path, changedLine(diff)),
      document != null && this.fileLink(t("Open the plan to edit it or to comment on its lines"), document),
      fullOutput != null && this.fileLink(t("Open the whole output"), fullOutput),
    );
  }

  /** A file that is about to be created cannot be opened yet. */
  private isToBeMade({ oldText }: FileDiff): boolean {
    return oldText === "" && this.item.status !== "completed";
  }

  private fileLink(label: string, path: string, near?: string): HTMLElement {
    const link = element(
      "button",
      { type: "button", className: "link-button", title: visibleLine(path) },
      icon("go-to-file"),
      element("bdi", { textContent: visibleLine(label) }),
    );
    link.addEventListener("click", () => this.actions.openFile(path, undefined, near));
    return link;
  }

  /** The form while they are open, once for each of them; then what was answered, which shows though the card is folded. */
  private drawQuestions(): void {
    const { questions, questionId, answers } = this.item;
    const asked = questions?.length ? (questionId ?? "") : undefined;
    if (asked !== this.questionsFor) {
      this.questionsFor = asked;
      if (this.questions.contains(document.activeElement)) {
        this.header.focus();
      }
      setChildren(this.questions, asked !== undefined && drawQuestions(this.item, this.actions));
    }
    if (answers?.length && this.answers.hidden) {
      this.answers.hidden = false;
      setChildren(this.answers, drawAnswers(answers));
    }
  }

  /** Drawn once for each question, so that a reason being typed survives updates. */
  private drawApproval(): void {
    const asked = this.item.permission?.length ? (this.item.permissionId ?? "") : undefined;
    if (asked !== this.askedFor) {
      this.askedFor = asked;
      if (this.approval.contains(document.activeElement)) {
        this.header.focus(); // else the focus would be lost with the button that was pressed
      }
      setChildren(this.approval, asked !== undefined && drawApproval(this.item, this.actions));
    }
  }
}

function isSameDiff(diff: FileDiff | undefined, known: FileDiff | undefined): boolean {
  return diff?.path === known?.path && diff?.newText === known?.newText && diff?.oldText === known?.oldText;
}
