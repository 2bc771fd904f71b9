/** Entry of the panel: messages go through the reducer, and the page is drawn once a frame at most. */

import "./hostLanguage"; // before all others: they have texts
import { t } from "../src/l10n";
import { createActions } from "./actions";
import { Cards } from "./dock/cards";
import { Frames } from "./frames";
import { HistoryFeed, TurnsFeed } from "./history/feed";
import { connectHost, type PanelMemory } from "./host";
import type { PanelView } from "./messages";
import { Panel } from "./panel";
import { asKept, INITIAL_STATE, type PanelMessage, type PanelState, reduce, toKeep } from "./state";
import { PAGE } from "./conversation/timeline";
import { firstChangeFrom, NO_TURNS } from "./conversation/turns";
import { playSound } from "./sound";

let state: PanelState = INITIAL_STATE;
let loading: Promise<void> | undefined;

/** Items that are asked for at first where one of long ago is looked up, and then; the server gives fewer where they are long. */
const AT_FIRST = 1000;
const MOST_AT_ONCE = 10_000;

/** Milliseconds without news after which what is shown is kept for the next time. */
const KEPT_AFTER = 1000;

const host = connectHost((message) => {
  if (message.type === "focusPrompt") {
    frames.catchUp();
    panel.focusPrompt();
  } else if (message.type === "show") {
    frames.catchUp(); // the session that the host told of before
    show(message.view);
  } else if (message.type === "answerApproval") {
    if (frames.isSeen) {
      panel.answerApproval(message.allow);
    } else {
      panel.nextApproval(); // what stands there was not painted yet: nobody allows what they do not see
    }
  } else if (message.type === "nextApproval") {
    frames.catchUp();
    panel.nextApproval();
  } else if (message.type === "listChanged") {
    panel.tellSessions(message);
  } else if (message.type === "sound") {
    void playSound(message.what).catch(() => undefined); // a system without sound
  } else {
    take(message);
  }
});
let remembered = host.recall();
let keeping: ReturnType<typeof setTimeout> | undefined;
const sessionId = () => state.session?.sessionId;
const actions = createActions({
  host,
  sessionId,
  showError: (message, wayOut) => cards.showError(message, wayOut),
  loadEarlier: () => void loadEarlier(PAGE).catch(showFailure),
  firstChangeFrom: (itemId) => firstChangeFrom(state.session?.items ?? [], state.session?.turns ?? NO_TURNS, itemId),
  showItem: (itemId) => void showItem(itemId).catch(showFailure),
  showRunning: (commandId) => panel.showRunning(commandId),
  keptAnswer: (questionId) => (remembered.answering?.questionId === questionId ? remembered.answering.given : undefined),
  keepAnswer: (questionId, given) => remember({ answering: { questionId, given } }),
});
const cards = new Cards();
const feed = new HistoryFeed(
  (params) => host.request("ullage/session/epochs", params),
  () => state.session,
  take,
);
const turns = new TurnsFeed(
  (params) => host.request("ullage/session/changes", params),
  () => state.session,
  take,
);
const panel = new Panel({
  actions,
  cards,
  remembered,
  remember: (draft, attached) => remember({ draft, attached }),
  readsEpochs: () => void feed.refresh(),
});
const frames = new Frames(() => panel.update(state));
document.body.append(panel.element);
showFromBefore();

/** A conversation that cannot be drawn, kept by another version, is left out. */
function showFromBefore(): void {
  const snapshot = asKept(remembered.shown);
  try {
    state = snapshot === undefined ? state : reduce(state, { type: "shownBefore", snapshot });
    panel.update(state);
  } catch {
    state = INITIAL_STATE;
    panel.update(state);
  }
}

function remember(changes: Partial<PanelMemory>): void {
  remembered = { ...remembered, ...changes };
  host.remember(remembered);
}

/** When nothing happened for a moment: it is written by the host. */
function keepForNextTime(): void {
  clearTimeout(keeping);
  keeping = setTimeout(() => {
    if (state.session?.state === "idle" && !state.isFromBefore) {
      remember({ shown: toKeep(state.session) });
    }
  }, KEPT_AFTER);
}

function take(message: PanelMessage): void {
  const before = state;
  state = reduce(state, message);
  if (state.resyncing && (!before.resyncing || message.type === "snapshot")) {
    host.resync();
  }
  if (message.type === "figures") {
    panel.tellSessions(message);
  }
  feed.follow(message);
  turns.follow(message);
  frames.want();
  keepForNextTime();
}

function show(view: PanelView): void {
  if (view.kind !== "item") {
    panel.show(view);
  } else if (view.sessionId === sessionId()) {
    void showItem(view.itemId, view.words).catch(showFailure);
  }
}

/** What precedes the known items is loaded until the item is among them, and drawn when it is. */
async function showItem(itemId: string, words = ""): Promise<void> {
  const shown = sessionId();
  for (let limit = AT_FIRST; !isKnown(itemId); limit = MOST_AT_ONCE) {
    const left = state.session?.earlier ?? 0;
    if (left > 0 && sessionId() === shown) {
      await loadEarlier(limit);
    }
    if (sessionId() !== shown || (state.session?.earlier ?? 0) === left) {
      break;
    }
  }
  frames.want();
  frames.catchUp();
  if (sessionId() !== shown || !panel.reveal(itemId, words)) {
    cards.showError(t("This message is not in the conversation."));
  }
}

function isKnown(itemId: string): boolean {
  return state.session?.items.some(({ id }) => id === itemId) === true;
}

/** Only one page is asked for at a time; whoever asks meanwhile waits for the same. */
function loadEarlier(limit: number): Promise<void> {
  loading ??= loadPage(limit).finally(() => (loading = undefined));
  return loading;
}

async function loadPage(limit: number): Promise<void> {
  const { session } = state;
  const oldest = session?.items[0];
  if (session === undefined || oldest === undefined || state.isFromBefore) {
    return;
  }
  const { items, earlier } = await host.request("ullage/session/items", { sessionId: session.sessionId, before: oldest.id, limit });
  take({ type: "earlierItems", sessionId: session.sessionId, items, earlier });
}

function showFailure(error: unknown): void {
  cards.showError(error instanceof Error ? error.message : String(error));
}
