/** Entry of the panel: messages go through the reducer, and the page is drawn once a frame. */

import { createActions } from "./actions";
import { Cards } from "./cards";
import { HistoryFeed } from "./historyFeed";
import { connectHost } from "./host";
import type { PanelView } from "./messages";
import { Panel } from "./panel";
import { INITIAL_STATE, reduce, type PanelMessage, type PanelState } from "./state";
import { PAGE } from "./timeline";

let state: PanelState = INITIAL_STATE;
let drawing = false;
let loading: Promise<void> | undefined;

/** Items that are asked for at a time where one of long ago is looked up. */
const MOST_AT_ONCE = 1000;

const host = connectHost((message) => {
  if (message.type === "focusPrompt") {
    panel.focusPrompt();
  } else if (message.type === "show") {
    show(message.view);
  } else {
    take(message);
  }
});
const sessionId = () => state.session?.sessionId;
const actions = createActions({
  host,
  sessionId,
  showError: (message, wayOut) => cards.showError(message, wayOut),
  loadEarlier: () => void loadEarlier(PAGE).catch(showFailure),
  showItem: (itemId) => void showItem(itemId).catch(showFailure),
});
const cards = new Cards(actions);
const feed = new HistoryFeed(
  (params) => host.request("ullage/session/epochs", params),
  () => state.session,
  take,
);
const panel = new Panel({
  actions,
  cards,
  draft: host.recall().draft,
  remember: (draft) => host.remember({ draft }),
  readsEpochs: () => void feed.refresh(),
});
document.body.append(panel.element);
panel.update(state);

function take(message: PanelMessage): void {
  const before = state;
  state = reduce(state, message);
  if (state.resyncing && (!before.resyncing || message.type === "snapshot")) {
    host.resync();
  }
  feed.follow(message);
  if (!drawing) {
    drawing = true;
    requestAnimationFrame(draw);
  }
}

function draw(): void {
  drawing = false;
  panel.update(state);
}

function show(view: PanelView): void {
  if (view.kind !== "item") {
    panel.show(view);
  } else if (view.sessionId === sessionId()) {
    actions.showItem(view.itemId);
  }
}

/** What precedes the known items is loaded until the item is among them. */
async function showItem(itemId: string): Promise<void> {
  const shown = sessionId();
  panel.update(state);
  while (!panel.reveal(itemId)) {
    const left = state.session?.earlier ?? 0;
    if (left > 0 && sessionId() === shown) {
      await loadEarlier(MOST_AT_ONCE);
    }
    if (sessionId() !== shown || (state.session?.earlier ?? 0) === left) {
      cards.showError("This message is not in the conversation.");
      return;
    }
    panel.update(state);
  }
}

/** Only one page is asked for at a time; whoever asks meanwhile waits for the same. */
function loadEarlier(limit: number): Promise<void> {
  loading ??= loadPage(limit).finally(() => (loading = undefined));
  return loading;
}

async function loadPage(limit: number): Promise<void> {
  const { session } = state;
  const oldest = session?.items[0];
  if (session === undefined || oldest === undefined) {
    return;
  }
  const { items, earlier } = await host.request("ullage/session/items", { sessionId: session.sessionId, before: oldest.id, limit });
  take({ type: "earlierItems", sessionId: session.sessionId, items, earlier });
}

function showFailure(error: unknown): void {
  cards.showError(error instanceof Error ? error.message : String(error));
}
