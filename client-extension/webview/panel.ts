/** The panel as a whole: its parts from top to bottom, each drawn from the state. */

import type { Actions } from "./actions";
import { Activity } from "./activity";
import { Announcer } from "./announcer";
import { Banners } from "./banners";
import type { Cards } from "./cards";
import { Composer } from "./composer";
import { element } from "./dom";
import { PlanView } from "./planView";
import { QueueView } from "./queueView";
import { SessionHeader } from "./sessionHeader";
import type { SlashCommand } from "./slashCommands";
import { StartScreen } from "./startScreen";
import type { PanelState } from "./state";
import { Timeline } from "./timeline";

export interface PanelParts {
  actions: Actions;
  cards: Cards;
  draft: string;
  remember: (draft: string) => void;
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
  private readonly cards: Cards;
  private readonly actions: Actions;
  private state: PanelState | undefined;

  constructor({ actions, cards, draft, remember }: PanelParts) {
    this.actions = actions;
    this.cards = cards;
    this.header = new SessionHeader(actions);
    this.banners = new Banners(actions);
    this.start = new StartScreen(actions);
    this.timeline = new Timeline(actions, this.activity.element);
    this.queue = new QueueView(actions);
    this.composer = new Composer(
      {
        actions,
        runSlashCommand: (command) => this.runSlashCommand(command),
        showContext: () => this.showContext(),
        sent: () => {
          cards.hide();
          this.timeline.goToEnd();
        },
        remember,
      },
      draft,
    );
    const dock = element("footer", { className: "dock" }, this.cards.element, this.plan.element, this.queue.element, this.composer.element);
    this.element = element(
      "main",
      { className: "panel" },
      this.header.element,
      this.banners.element,
      this.start.element,
      this.timeline.element,
      dock,
      this.announcer.element,
    );
    // From the prompt box too, where the cursor is while a card is open. A menu that is open takes the key first.
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented) {
        cards.hide();
      }
    });
  }

  update(state: PanelState): void {
    this.state = state;
    const { session } = state;
    this.header.element.hidden = session === undefined;
    this.banners.update(state);
    this.start.update(state);
    this.timeline.element.hidden = !this.start.element.hidden;
    this.composer.update(session, state.server.state === "running");
    this.plan.update(session?.plan ?? []);
    this.queue.update(session);
    if (session !== undefined) {
      this.header.update(session);
      this.activity.update(session);
      this.timeline.update(session);
      this.announcer.update(session);
    }
  }

  focusPrompt(): void {
    this.composer.focus();
  }

  private runSlashCommand(command: SlashCommand): void {
    this.cards.hide();
    switch (command.name) {
      case "compact":
        void this.actions.send("ullage/session/compact", command.focus === "" ? {} : { focus: command.focus });
        return;
      case "undo":
        void this.actions.send("ullage/session/undoCompaction", {});
        return;
      case "redo":
        void this.actions.send("ullage/session/redoCompaction", {});
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
      case "context":
        this.showContext();
        return;
      case "help":
        this.cards.showHelp();
        return;
    }
  }

  private showContext(): void {
    if (this.state?.session !== undefined) {
      this.cards.showContext(this.state.session.gauge);
    }
  }
}
