/** The end of the conversation, kept for the next time: after a reload it is seen at once, and not only when the server is there. Pure. */

import type { Item, Snapshot } from "../src/protocol";
import type { SessionView } from "./state";

/** Items that fill a panel. */
const MOST_ITEMS = 30;

/** Characters that are kept: they are written with every change of the prompt box, too. */
const MOST_CHARACTERS = 30_000;

const ENDED = new Set(["completed", "failed", "cancelled", "undone"]);

/** What of a session is kept: its newest items as far as nothing can become of them any more. */
export function toKeep(session: SessionView): Snapshot {
  const { retry: _retry, history: _history, ...fields } = session;
  const items: Item[] = [];
  let characters = 0;
  for (const item of session.items.toReversed()) {
    characters += JSON.stringify(item).length;
    if (items.length === MOST_ITEMS || characters > MOST_CHARACTERS) {
      break;
    }
    items.push(item);
  }
  items.reverse();
  const earlier = session.earlier + session.items.length - items.length;
  return { ...fields, plan: [...session.plan], state: "idle", items: items.filter(isOver), earlier };
}

/** What was kept; undefined where it is nothing of the kind, such as of another version. */
export function asKept(value: unknown): Snapshot | undefined {
  const kept = value as Partial<Snapshot> | null | undefined;
  const isOne =
    typeof kept === "object" && kept !== null && typeof kept.sessionId === "string" && Array.isArray(kept.items) && kept.items.length > 0;
  return isOne && typeof kept.gauge === "object" && typeof kept.model === "object" ? (kept as Snapshot) : undefined;
}

/** Whether a question or a running call may not be what it was when the window opens again. */
function isOver(item: Item): boolean {
  if (item.kind === "user") {
    return !item.queued;
  }
  return !("status" in item) || ENDED.has(item.status);
}
