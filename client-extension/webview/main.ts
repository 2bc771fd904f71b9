/** Entry of the panel: messages go through the reducer, and the page is drawn once a frame. */

import { createActions } from "./actions";
import { Cards } from "./cards";
import { connectHost } from "./host";
import { Panel } from "./panel";
import { INITIAL_STATE, reduce, type PanelMessage, type PanelState } from "./state";
import { PAGE } from "./timeline";

let state: PanelState = INITIAL_STATE;
let drawing = false;
let loading = false;

const host = connectHost((message) => {
  if (message.type === "focusPrompt") {
    panel.focusPrompt();
  } else {
    take(message);
  }
});
const actions = createActions(
  host,
  () => state.session?.sessionId,
  (message) => cards.showError(message),
  () => void loadEarlier(),
);
const cards = new Cards(actions);
const panel = new Panel({ actions, cards, draft: host.recall().draft, remember: (draft) => host.remember({ draft }) });
document.body.append(panel.element);
panel.update(state);

function take(message: PanelMessage): void {
  const before = state;
  state = reduce(state, message);
  if (state.resyncing && (!before.resyncing || message.type === "snapshot")) {
    host.resync();
  }
  if (!drawing) {
    drawing = true;
    requestAnimationFrame(draw);
  }
}

function draw(): void {
  drawing = false;
  panel.update(state);
}

async function loadEarlier(): Promise<void> {
  const { session } = state;
  const oldest = session?.items[0];
  if (loading || session === undefined || oldest === undefined) {
    return;
  }
  loading = true;
  const { sessionId } = session;
  try {
    const { items, earlier } = await host.request("ullage/session/items", { sessionId, before: oldest.id, limit: PAGE });
    take({ type: "earlierItems", sessionId, items, earlier });
  } catch (error) {
    cards.showError(error instanceof Error ? error.message : String(error));
  } finally {
    loading = false;
  }
}
