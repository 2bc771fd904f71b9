/** Which item a turn ended with, of those that changed files. Pure. */

import type { Item, OpenChanges, TurnChanges } from "../../src/protocol";

/** A turn that changed files, and in how many of them something is still open. */
export interface Turn extends TurnChanges {
  openFiles?: number;
}

/** The turns that changed files, by the ids of their prompts. */
export type Turns = ReadonlyMap<string, Turn>;

export const NO_TURNS: Turns = new Map();

/** The id of the first turn that changed files, from that prompt on; undefined if none did. So far the files go back with the prompt. */
export function firstChangeFrom(items: readonly Item[], turns: Turns, itemId: string): string | undefined {
  const from = items.findIndex(({ id }) => id === itemId);
  return from < 0 ? undefined : items.slice(from).find(({ id }) => turns.has(id))?.id;
}

/** The turns with what is open of them now. Those of which as much is open as before stay the same objects. */
export function withOpen(turns: Turns, changes: OpenChanges | null | undefined): Turns {
  const open = new Map(changes?.turns?.map(({ turnId, files }) => [turnId, files]));
  const isSame = [...turns.values()].every(({ turnId, openFiles }) => openFiles === (open.get(turnId) ?? 0));
  return isSame ? turns : new Map([...turns].map(([turnId, turn]) => [turnId, withCount(turn, open.get(turnId) ?? 0)]));
}

function withCount(turn: Turn, openFiles: number): Turn {
  return turn.openFiles === openFiles ? turn : { ...turn, openFiles };
}

/**
 * The last item of each turn that changed files, by its id. The turn that runs has none yet.
 *
 * A prompt that joined a running turn begins none. Thinking is folded, so the line stands at what is above it.
 */
export function endsOf(items: readonly Item[], turns: Turns, isIdle: boolean): Turns {
  if (turns.size === 0) {
    return NO_TURNS;
  }
  const ends = new Map<string, Turn>();
  let turn: Turn | undefined;
  let last: Item | undefined;
  const end = () => {
    if (turn !== undefined && last !== undefined) {
      ends.set(last.id, turn);
    }
  };
  for (const item of items) {
    if (item.kind === "user") {
      if (item.steering === true || item.queued) {
        continue;
      }
      end();
      turn = turns.get(item.id);
      last = undefined;
    } else if (item.kind === "assistant" || item.kind === "toolCall" || item.kind === "notice") {
      last = item;
    }
  }
  if (isIdle) {
    end();
  }
  return ends;
}
