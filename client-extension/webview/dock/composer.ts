/** The prompt box: writing, sending, stopping, attachments, earlier prompts with the arrow keys. What completes a word: `completing.ts`. */

import { t } from "../../src/l10n";
import type { AttachmentRef, ForkPrompt } from "../../src/protocol";
import { isQuestion } from "../../src/session/approvals";
import type { Actions } from "../actions";
import { element, iconButton } from "../dom";
import { type SessionView, isReadOnly } from "../state";
import { type Attachment, Attachments } from "./attachments";
import { ContextMeter } from "./cards";
import { Choices, modeAfter } from "./choices";
import { Completing } from "./completing";
import { type Mention, NamedPages } from "./mentions";
import { parseSlashCommand, type SlashCommand } from "./slashCommands";
import { PromptHistory } from "./typing";

interface ComposerHost {
  actions: Actions;
  runSlashCommand(command: SlashCommand): void;
  showContext(): void;
  /** Shift+Tab chooses the mode, so another key leads from the box to what is above it. */
  focusConversation(): void;
  /** The prompt was sent: its turn is what the user wants to see. */
  sent(): void;
  /** Says what could not be done. */
  refuse(message: string): void;
  remember(draft: string, attached: readonly Attachment[]): void;
}

export class Composer {
  readonly element: HTMLElement;
  private readonly box = element("textarea", {
    className: "prompt",
    rows: 1,
    dir: "auto",
    attributes: { "aria-label": t("Prompt"), "aria-haspopup": "listbox" },
  });
  private readonly attachments: Attachments;
  private readonly completing: Completing;
  private readonly history = new PromptHistory();
  private readonly meter: ContextMeter;
  private readonly choices: Choices;
  private readonly stop: HTMLButtonElement;
  private readonly send: HTMLButtonElement;
  private session: SessionView | undefined;
  private online = false;
  private readonly pages = new NamedPages();
  /** How many prompts were sent for which pages are being fetched. */
  private fetching = 0;
  private drawnButtons = "";
  private isDraftChecked = false;

  constructor(
    private readonly host: ComposerHost,
    private readonly draft: string,
    attached: readonly Attachment[],
  ) {
    const { actions } = host;
    this.attachments = new Attachments(
      attached,
      () => this.remember(),
      (message) => host.refuse(message),
    );
    this.completing = new Completing(this.box, actions, {
      replaceText: (text) => this.replaceText(text),
      submit: () => void this.submit("queue"),
      attach: (label, ref) => this.attachments.add(label, ref),
      gather: (name) => void this.gather(name),
      takePages: () => this.takePages(false),
    });
    this.meter = new ContextMeter(() => host.showContext());
    this.choices = new Choices((command) => actions.runCommand(command));
    this.stop = iconButton({
      label: t("Stop"),
      title: t("Stop (Esc)"),
      icon: "debug-stop",
      className: "stop",
      onClick: () => void actions.send("ullage/session/cancel", {}),
    });
    this.send = iconButton({ label: t("Send"), icon: "arrow-up", className: "send", onClick: () => void this.submit("queue") });
    const attach = iconButton({ label: t("Attach a file or the problems"), icon: "mention", onClick: () => this.insert("@") });
    const bar = element(
      "div",
      { className: "composer-bar" },
      attach,
      ...this.choices.elements,
      this.meter.element,
      element("span", { className: "space" }),
      this.stop,
      this.send,
    );
    const frame = element("div", { className: "composer" }, this.attachments.element, this.box, bar);
    frame.addEventListener("click", (event) => event.target === frame && this.focus());
    this.element = element("div", { className: "composer-place" }, this.completing.menu.element, frame);
    this.box.value = draft;
    this.pages.know(draft);
    this.box.addEventListener("input", () => this.changed());
    this.box.addEventListener("keydown", (event) => this.keyDown(event));
    this.box.addEventListener("paste", (event) => void this.attachments.take(event, event.clipboardData));
    this.takeDrops(this.element);
    this.element.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget !== this.box && relatedTarget !== this.completing.menu.element) {
        this.completing.menu.show([]);
      }
    });
  }

  /** What is dropped there is attached. The box shows that it would be. */
  takeDrops(place: HTMLElement): void {
    const show = (isOver: boolean) => this.element.classList.toggle("dropping", isOver);
    place.addEventListener("dragover", (event) => {
      event.preventDefault();
      show(true);
    });
    place.addEventListener("dragleave", (event) => show(event.relatedTarget instanceof Node && place.contains(event.relatedTarget)));
    place.addEventListener("drop", (event) => {
      show(false);
      if (!event.defaultPrevented) {
        void this.attachments.take(event, event.dataTransfer);
      }
    });
  }

  update(session: SessionView | undefined, online: boolean): void {
    this.online = online && session !== undefined && !isReadOnly(session);
    if (session !== undefined && session.items !== this.session?.items) {
      this.history.setEntries(session.items.filter((item) => item.kind === "user").map((item) => item.text));
    }
    if (session !== undefined && online && !this.isDraftChecked) {
      this.isDraftChecked = true;
      this.dropSentDraft(session);
    }
    this.session = session;
    if (session !== undefined) {
      this.meter.update(session.gauge);
    }
    this.choices.update(session);
    this.meter.element.hidden = session === undefined;
    this.drawButtons();
  }

  private nextMode(): void {
    const modes = this.session?.modes;
    if (modes !== undefined && this.online) {
      void this.host.actions.send("ullage/session/setMode", { modeId: modeAfter(modes) });
    }
  }

  focus(): void {
    this.box.focus();
  }

  /** Puts a prompt of before into the box, to be written in another way. What was being written stays, below it. */
  put({ text, attachments }: ForkPrompt): void {
    for (const ref of attachments) {
      this.attachments.addAgain(ref);
    }
    if (text === "") {
      this.focus();
      return;
    }
    const written = this.box.value.trim();
    this.pages.know(`${text}\n${this.box.value}`);
    this.replaceText(written === "" || written === text.trim() ? text : `${text}\n\n${this.box.value}`);
    this.box.setSelectionRange(text.length, text.length);
  }

  /** Whether the agent waits for an answer: what is written here takes its place. */
  private get isAsked(): boolean {
    return this.session?.items.some(isQuestion) === true;
  }

  /** What stands in the box. */
  get written(): string {
    return this.box.value.trim();
  }

  private get busy(): boolean {
    return this.session !== undefined && this.session.state !== "idle";
  }

  /** Of a window that was closed in haste, the editor may remember a draft that was sent since. */
  private dropSentDraft({ items }: SessionView): void {
    const sent = items.some((item) => item.kind === "user" && item.text === this.draft.trim());
    if (sent && this.box.value === this.draft) {
      this.box.value = "";
      this.attachments.clear();
      this.resized();
    }
  }

  private drawButtons(): void {
    const label = this.busy && !this.isAsked ? t("Queue") : t("Send");
    const drawn = JSON.stringify([this.busy, this.isAsked, this.online, this.box.value.trim() === "", this.fetching]);
    if (drawn === this.drawnButtons) {
      return;
    }
    this.drawnButtons = drawn;
    this.stop.hidden = !this.busy;
    this.send.disabled = !this.online || this.box.value.trim() === "";
    this.send.title = t("{label} (Enter)", { label });
    this.send.setAttribute("aria-label", label);
    this.box.placeholder = this.placeholder();
  }

  private placeholder(): string {
    if (this.fetching > 0) {
      return t("Fetching the page…");
    }
    if (this.isAsked) {
      return t("Answer above, or say something else…");
    }
    return this.busy ? t("Add to what it is doing…") : t("Ask, or give it a task…");
  }

  private async submit(delivery: "queue" | "steer"): Promise<void> {
    const text = this.box.value;
    if (text.trim() === "" || !this.online) {
      return;
    }
    this.takePages(true);
    const { refs, all: attached } = this.attachments;
    const command = parseSlashCommand(text);
    this.replaceText("");
    if (command !== undefined) {
      this.host.runSlashCommand(command);
      return;
    }
    this.attachments.clear();
    this.host.sent();
    const pages = refs.some(({ kind }) => kind === "page") ? 1 : 0;
    this.fetching += pages;
    this.drawButtons();
    const taken = await this.host.actions.prompt(text.trim(), refs, this.isAsked ? "steer" : delivery);
    this.fetching -= pages;
    if (!taken && this.box.value === "") {
      this.attachments.putBack(attached);
      this.pages.know(text);
      this.replaceText(text);
    }
    this.drawButtons();
  }

  private keyDown(event: KeyboardEvent): void {
    if (event.isComposing) {
      return;
    }
    const plain = !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey;
    if (plain && this.completing.takeKey(event.key)) {
      event.preventDefault();
    } else if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      void this.submit(this.busy && (event.ctrlKey || event.metaKey) ? "steer" : "queue");
    } else if (event.key === "ArrowUp" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.host.focusConversation();
    } else if (event.key === "Tab" && event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      this.nextMode();
    } else if (plain && (event.key === "ArrowUp" || event.key === "ArrowDown") && this.walkHistory(event.key)) {
      event.preventDefault();
    }
  }

  /** Only from an empty box or from an earlier prompt that was not changed: else the arrows move the cursor. */
  private walkHistory(key: "ArrowUp" | "ArrowDown"): boolean {
    const text = this.box.value;
    if (text !== "" && !this.history.isShowing(text)) {
      return false;
    }
    const found = key === "ArrowUp" ? this.history.earlier(text) : this.history.later();
    if (found !== undefined) {
      this.box.value = found;
      this.resized();
    }
    return found !== undefined;
  }

  private changed(): void {
    if (!this.history.isShowing(this.box.value)) {
      this.history.reset();
    }
    this.takePages(false);
    this.resized();
    void this.completing.complete();
  }

  private remember(): void {
    this.host.remember(this.box.value, this.attachments.all);
  }

  /** Follows the text: height, buttons, what is remembered. */
  private resized(): void {
    this.box.style.height = "auto";
    this.box.style.height = `${this.box.scrollHeight}px`;
    this.remember();
    this.drawButtons();
  }

  private async gather(name: Mention["name"]): Promise<void> {
    try {
      const ref: AttachmentRef = name === "problems" ? { kind: "problems" } : await this.host.actions.gather(name);
      this.attachments.addAgain(ref);
    } catch (error) {
      this.host.refuse(error instanceof Error ? error.message : String(error));
    }
  }

  /** Attaches the pages that the text names since the last time. */
  private takePages(whole: boolean): void {
    for (const url of this.pages.newIn(this.box.value, whole)) {
      this.attachments.addAgain({ kind: "page", url });
    }
  }

  private insert(text: string): void {
    const cursor = this.box.selectionStart;
    const before = this.box.value.slice(0, cursor);
    const spaced = before === "" || /\s$/.test(before) ? text : ` ${text}`;
    this.focus();
    this.box.setRangeText(spaced, cursor, this.box.selectionEnd, "end");
    this.changed();
  }

  private replaceText(text: string): void {
    this.completing.menu.show([]);
    this.history.reset();
    this.box.value = text;
    this.resized();
    this.focus();
  }
}
