/** The panel as a whole: its parts from top to bottom, each drawn from the state. */

import { waitingIn, waitsForUser } from "../src/session/approvals";
import type { Actions } from "./actions";
import { approvalInSight } from "./items/approval";
import { focusQuestion } from "./items/question";
import { Activity, Announcer } from "./conversation/activity";
import { Banners, SessionHeader } from "./header";
import type { Cards } from "./dock/cards";
import { ChangesView } from "./dock/changes";
import { Composer } from "./dock/composer";
import { element } from "./dom";
import { EpochsSheet } from "./history/epochsSheet";
import { markWords } from "./conversation/rows";
import type { PanelView, SessionNews } from "./messages";
import { PinsView, PlanView, QueueView } from "./dock/trays";
import { RunningView } from "./dock/running";
import { SessionsSheet } from "./sessions/sessionsSheet";
import { ContextSheet } from "./context/contextSheet";
import { InstructionsSheet } from "./instructions/instructionsSheet";
import { OthersSheet } from "./sessions/othersSheet";
import { PermissionsSheet } from "./permissions/permissionsSheet";
import { PreviewSheet } from "./history/previewSheet";
import { Sheet } from "./history/sheet";
import { isModeId } from "./dock/choices";
import type { SlashCommand } from "./dock/slashCommands";
import { StartScreen } from "./startScreen";
import type { Attachment } from "./dock/attachments";
import type { PanelMemory } from "./host";
import { type PanelState, isReadOnly } from "./state";
import { Timeline } from "./conversation/timeline";

interface PanelParts {
  actions: Actions;
  cards: Cards;
  remembered: PanelMemory;
  remember: (draft: string, attached: readonly Attachment[]) => void;
  /** Somebody begins to read the timeline, which has to be up to date. */
  readsEpochs: () => void;
}

export class Panel {
  readonly element: HTMLElement;
  private readonly header: SessionHeader;
  private readonly banners: Banners;
  private readonly start: StartScreen;
  private readonly activity = new Activity();
  private readonly timeline: Timeline;
  private readonly plan = new PlanView();
  private readonly queue: QueueView;
  private readonly composer: Composer;
  private readonly announcer = new Announcer();
  private readonly pins: PinsView;
  private readonly changes: ChangesView;
  private readonly running: RunningView;
  private readonly sheet: Sheet;
  private readonly preview: PreviewSheet;
  private readonly epochs: EpochsSheet;
  private readonly sessions: SessionsSheet;
  private readonly permissions: PermissionsSheet;
  private readonly instructions: InstructionsSheet;
  private readonly others: OthersSheet;
  private readonly context: ContextSheet;
  private readonly cards: Cards;
  private readonly actions: Actions;
  private state: PanelState | undefined;

  constructor({ actions, cards, remembered, remember, readsEpochs }: PanelParts) {
    this.actions = actions;
    this.cards = cards;
    this.header = new SessionHeader(actions, () => this.showSessions());
    this.banners = new Banners(actions);
    this.start = new StartScreen(actions);
    this.timeline = new Timeline(actions, this.activity.element);
    this.queue = new QueueView(actions, (prompt) => this.composer.put(prompt));
    this.pins = new PinsView(actions);
    this.running = new RunningView(actions);
    this.changes = new ChangesView(actions, (message) => cards.showError(message));
    this.sheet = new Sheet(
      (isOpen) => this.sheetChanged(isOpen),
      (itemId) => actions.showItem(itemId),
    );
    this.preview = new PreviewSheet(actions, this.sheet);
    this.epochs = new EpochsSheet(actions, this.sheet, readsEpochs);
    this.sessions = new SessionsSheet(actions, this.sheet, (message) => cards.showError(message));
    this.permissions = new PermissionsSheet(actions, this.sheet);
    this.instructions = new InstructionsSheet(actions, this.sheet);
    this.others = new OthersSheet(actions, this.sheet);
    this.context = new ContextSheet(actions, this.sheet, () => this.composer.written);
    this.composer = new Composer(
      {
        actions,
        runSlashCommand: (command) => this.runSlashCommand(command),
        showContext: () => this.showContext(),
        focusConversation: () => this.timeline.focusEnd(),
        sent: () => {
          cards.hide();
          this.sheet.close();
          this.timeline.goToEnd();
        },
        refuse: (message) => cards.showError(message),
        remember,
      },
      remembered.draft,
      remembered.attached,
    );
    const above = [this.cards, this.plan, this.running, this.queue, this.pins, this.changes].map((each) => each.element);
    const dock = element("footer", { className: "dock" }, ...above, this.composer.element);
    const stage = element("div", { className: "stage" }, this.start.element, this.timeline.element, this.timeline.jump, this.sheet.element);
    const heading = element("h1", { className: "screen-reader-only", textContent: "Ullage" });
    this.element = element(
      "main",
      { className: "panel" },
      heading,
      this.header.element,
      this.banners.element,
      stage,
      dock,
      this.announcer.element,
    );
    this.composer.takeDrops(this.element);
    // From the prompt box too, where the cursor is while a card is open. A menu that is open takes the key first.
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented && !event.isComposing && !cards.hide() && !this.sheet.close()) {
        this.stop();
      }
    });
  }

  update(state: PanelState): void {
    const before = this.state?.session?.sessionId;
    this.state = state;
    const { session } = state;
    if (before !== undefined && session?.sessionId !== before) {
      this.cards.hide(); // what it says is about the session before
    }
    this.header.element.hidden = session === undefined;
    this.element.toggleAttribute("data-read-only", session !== undefined && isReadOnly(session));
    this.banners.update(state);
    this.start.update(state);
    this.timeline.element.hidden = !this.start.element.hidden;
    this.composer.update(session, state.server.state === "running" && !state.isFromBefore);
    this.plan.update(session?.plan ?? []);
    this.queue.update(session);
    this.pins.update(session?.pins);
    this.running.update(state.isFromBefore ? undefined : (session?.running ?? undefined));
    this.changes.update(state.isFromBefore ? undefined : (session?.changes ?? undefined));
    if (session !== undefined) {
      this.header.update(session, state.others);
      this.sessions.shows(session.sessionId);
      this.activity.update(session);
      this.timeline.update(session);
      if (!state.isFromBefore) {
        this.announcer.update(session);
      }
      this.showWaiting();
      this.preview.update(session);
      this.epochs.update(session);
      this.context.update(session);
    }
  }

  /** Leads to a command in the background; false if it is not there. */
  showRunning(commandId: string): boolean {
    return this.running.show(commandId);
  }

  focusPrompt(): void {
    this.composer.focus();
  }

  /** Opens what the host asks for. Items are looked up by `showItem`. */
  show(view: Exclude<PanelView, { kind: "item" }>): void {
    this.cards.hide();
    if (view.kind === "prompt") {
      this.sheet.close();
      this.composer.put(view.prompt);
    } else if (view.kind === "sessions") {
      this.showSessions();
    } else if (view.kind === "preview") {
      this.preview.open("", this.state?.session);
    } else if (view.kind === "context") {
      this.showContext();
    } else if (view.kind === "permissions") {
      this.permissions.open();
    } else if (view.kind === "instructions") {
      this.instructions.open();
    } else if (view.kind === "others") {
      this.others.open(view.file);
    } else {
      this.epochs.open(this.state?.session);
    }
  }

  /** Presses the button of the question that is in sight, else leads to the one that waits. */
  answerApproval(allow: boolean): void {
    const asked = approvalInSight(this.timeline.element);
    const button = asked?.querySelector<HTMLButtonElement>(`[data-answer="${allow ? "allow_once" : "reject_once"}"]`);
    if (button == null) {
      this.nextApproval();
    } else {
      button.click();
    }
  }

  /** Leads to the question after the one that has the focus, round and round. */
  nextApproval(): void {
    const waiting = waitingIn(this.state?.session?.items ?? []);
    const at = document.activeElement?.closest<HTMLElement>("[data-item-id]")?.dataset.itemId;
    const next = waiting[(waiting.findIndex(({ id }) => id === at) + 1) % Math.max(1, waiting.length)];
    if (next !== undefined) {
      this.actions.showItem(next.id);
    }
  }

  /** The list of sessions was changed, or what it says of one: it follows while it is open. */
  tellSessions(news: SessionNews): void {
    if (news.type === "listChanged") {
      this.sessions.listChanged();
    } else {
      this.sessions.figures(news.sessionId, news.figures);
    }
  }

  private showSessions(): void {
    this.cards.hide();
    this.sessions.open(this.state?.session?.sessionId);
  }

  private stop(): void {
    if (this.state?.session !== undefined && this.state.session.state !== "idle") {
      void this.actions.send("ullage/session/cancel", {});
    }
  }

  /** Scrolls to an item of the session; false if it is not loaded. */
  reveal(itemId: string, words = ""): boolean {
    this.sheet.close();
    const found = this.timeline.reveal(itemId);
    if (found) {
      const row = this.timeline.element.querySelector<HTMLElement>(`[data-item-id="${CSS.escape(itemId)}"]`);
      if (words === "" && row !== null) {
        focusQuestion(row);
      }
      markWords(row, words);
    }
    return found;
  }

  /** What lies under the sheet takes no key and no click. */
  private sheetChanged(isOpen: boolean): void {
    for (const below of [this.start.element, this.timeline.element, this.timeline.jump]) {
      below.toggleAttribute("inert", isOpen);
    }
    this.showWaiting();
    if (!isOpen) {
      this.composer.focus();
    }
  }

  private showWaiting(): void {
    if (this.sheet.shows !== undefined) {
      const waits = this.state?.session?.items.findLast(waitsForUser);
      this.sheet.showWaiting(waits?.id);
    }
  }

  private runSlashCommand(command: SlashCommand): void {
    this.cards.hide();
    this.sheet.close(); // what the command says in the conversation would lie below it
    switch (command.name) {
      case "compact":
        void this.actions.send("ullage/session/compact", command.focus === "" ? {} : { focus: command.focus });
        return;
      case "preview":
        this.preview.open(command.focus, this.state?.session);
        return;
      case "timeline":
        this.epochs.open(this.state?.session);
        return;
      case "search":
        this.actions.runCommand("ullage.searchSessions", command.words);
        return;
      case "undo":
        void this.actions.send("ullage/session/undoCompaction", {});
        return;
      case "redo":
        void this.actions.send("ullage/session/redoCompaction", {});
        return;
      case "rewind":
        if (command.to === "") {
          this.actions.runCommand("ullage.goBack");
        } else {
          void this.actions.send("ullage/session/prompt", { text: ["/rewind", command.to].join(" ") });
        }
        return;
      case "fork":
        this.actions.runCommand("ullage.forkSession");
        return;
      case "new":
        this.actions.runCommand("ullage.newSession");
        return;
      case "model":
        if (command.model === "") {
          this.actions.runCommand("ullage.selectModel");
        } else {
          void this.actions.send("ullage/session/setModel", { model: command.model });
        }
        return;
      case "effort":
        if (command.effort === "") {
          this.actions.runCommand("ullage.selectEffort");
        } else {
          void this.actions.send("ullage/session/prompt", { text: ["/effort", command.effort].join(" ") });
        }
        return;
      case "mode":
        if (isModeId(command.mode)) {
          void this.actions.send("ullage/session/setMode", { modeId: command.mode });
        } else {
          this.actions.runCommand("ullage.selectMode");
        }
        return;
      case "context":
        this.showContext();
        return;
      case "web":
        void this.actions.send("ullage/session/prompt", { text: ["/web", command.turned].join(" ").trim() });
        return;
      case "rules":
        this.instructions.open();
        return;
      case "hooks":
        if (command.words === "") {
          this.instructions.open();
        } else {
          void this.actions.send("ullage/session/prompt", { text: ["/hooks", command.words].join(" ") });
        }
        return;
      case "running":
        if (command.words !== "" || !this.running.show(undefined)) {
          void this.actions.send("ullage/session/prompt", { text: ["/running", command.words].join(" ").trim() });
        }
        return;
      case "mcp":
        this.actions.runCommand("ullage.mcpServers", command.server);
        return;
      case "help":
        this.cards.showHelp();
        return;
    }
  }

  private showContext(): void {
    this.context.open(this.state?.session);
  }
}
