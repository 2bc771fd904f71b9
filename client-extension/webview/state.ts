/**
 * What the panel knows, and how messages of the host change it. Pure: no DOM, no clock, no ids made up here.
 *
 * A snapshot replaces everything of the session; updates build on it in the order of their numbers. An update that does not follow the
 * one before it makes the state `resyncing`: from then on updates are kept until a snapshot comes that they build on.
 *
 * The end of the conversation is kept for the next time (`toKeep`): after a reload it is seen at once, and not only when the server is there.
 */

import type {
  Epoch,
  ForkOrigin,
  Gauge,
  Item,
  ItemFate,
  ModelInfo,
  NewestTurn,
  OpenChanges,
  Pins,
  PlanEntry,
  RetryInfo,
  RunningCommand,
  SessionFigures,
  SessionModes,
  SessionState,
  Snapshot,
  TurnChanges,
  Update,
  UpdateParams,
  Worktree,
} from "../src/protocol";
import { type Status, wantsAttention } from "../src/session/sessionRows";
import type { ServerStatus } from "../src/server/answers";
import { NO_TURNS, type Turn, type Turns, withOpen } from "./conversation/turns";

export interface SessionView {
  sessionId: string;
  /** Number of the last update in it. */
  seq: number;
  title: string;
  state: SessionState;
  retry: RetryInfo | undefined;
  items: readonly Item[];
  /** How many items precede `items`. */
  earlier: number;
  plan: readonly PlanEntry[];
  gauge: Gauge;
  model: ModelInfo;
  pins: Pins;
  /** What the agent may do; undefined if the session can only be read. */
  modes: SessionModes | undefined;
  /** The session that this one was forked from. */
  forkedFrom?: ForkOrigin | null;
  /** Somebody else may have written it: it can only be read. */
  foreign?: boolean | null;
  /** The session that called it, where it is a sub-agent's: it can only be read. */
  agentOf?: string | null;
  /** What became of the items, as far as it was asked for; undefined before that. */
  history: History | undefined;
  /** What is open of the agent's changes in files. */
  changes?: OpenChanges | null;
  /** What runs in the background, and what has ended of which the model does not know yet. */
  running?: readonly RunningCommand[] | null;
  /** Where its agent works, if that is not the workspace folder. */
  worktree?: Worktree | null;
  /** The newest turn, where its prompt was not among the newest items. */
  turn?: NewestTurn | null;
  /** The turns that changed files, by the ids of their prompts, as far as it was asked for. */
  turns: Turns;
}

/** Whether nothing can be changed in it: it may be somebody else's, or is the log of a sub-agent. */
export function isReadOnly({ foreign, agentOf }: Pick<SessionView, "foreign" | "agentOf">): boolean {
  return foreign === true || agentOf != null;
}

export interface History {
  epochs: readonly Epoch[];
  fates: readonly ItemFate[];
}

export interface PanelState {
  server: ServerStatus;
  /** What the server wants the user to know beside the session. */
  warnings: readonly string[];
  /** What the server warned of before, and is well again. */
  note: string | undefined;
  /** Undefined until the first snapshot. */
  session: SessionView | undefined;
  /** The session is as it was shown before the window was loaded: it is not open yet. */
  isFromBefore: boolean;
  /** The sessions of this window, by id, that want the user: they wait, are done or failed. The one that is shown may be among them. */
  others: ReadonlyMap<string, Status>;
  /** A snapshot is needed before anything else can be shown. */
  resyncing: boolean;
  /** Updates that wait for that snapshot. */
  waiting: readonly UpdateParams[];
}

export type PanelMessage =
  | { type: "snapshot"; snapshot: Snapshot }
  /** What was shown before the window was loaded. */
  | { type: "shownBefore"; snapshot: Snapshot }
  | { type: "update"; params: UpdateParams }
  /** What the list says of a session that is open, shown or not. */
  | { type: "figures"; sessionId: string; figures: SessionFigures }
  | { type: "server"; status: ServerStatus }
  | { type: "warnings"; texts: readonly string[]; note?: string }
  /** Older items of a session were loaded. */
  | { type: "earlierItems"; sessionId: string; items: readonly Item[]; earlier: number }
  /** The epochs of a session were asked for. */
  | { type: "history"; sessionId: string; history: History }
  /** It was asked what turns changed: these, and what is known of others holds. */
  | { type: "turns"; sessionId: string; turns: readonly TurnChanges[] };

const NOTHING_PINNED: Pins = { itemIds: [], paths: [] };

export const INITIAL_STATE: PanelState = {
  server: { state: "starting" },
  warnings: [],
  note: undefined,
  session: undefined,
  isFromBefore: false,
  others: new Map(),
  resyncing: false,
  waiting: [],
};

/** The state after a message. The same object where the message changes nothing; items that do not change keep their identity. */
export function reduce(state: PanelState, message: PanelMessage): PanelState {
  switch (message.type) {
    case "snapshot":
      return takeSnapshot(state, message.snapshot);
    case "shownBefore":
      return { ...takeSnapshot(state, message.snapshot), isFromBefore: true };
    case "update":
      return takeUpdate(state, message.params);
    case "figures":
      return takeFigures(state, message);
    case "server":
      return { ...state, server: message.status };
    case "warnings":
      return { ...state, warnings: message.texts, note: message.note };
    case "earlierItems":
      return takeEarlierItems(state, message);
    case "history":
      return state.session?.sessionId === message.sessionId ? { ...state, session: { ...state.session, history: message.history } } : state;
    case "turns":
      return takeTurns(state, message);
  }
}

function takeSnapshot(state: PanelState, snapshot: Snapshot): PanelState {
  const { retry, pins, modes, ...rest } = snapshot;
  const isSame = state.session?.sessionId === snapshot.sessionId;
  const history = isSame ? state.session?.history : undefined;
  const turns = withOpen((isSame ? state.session?.turns : undefined) ?? NO_TURNS, snapshot.changes);
  const session = { ...rest, retry: retry ?? undefined, pins: pins ?? NOTHING_PINNED, modes: modes ?? undefined, history, turns };
  const fresh: PanelState = { ...state, session, isFromBefore: false, resyncing: false, waiting: [] };
  return state.waiting.reduce(takeUpdate, fresh);
}

function takeUpdate(state: PanelState, params: UpdateParams): PanelState {
  const { session } = state;
  if (session === undefined || state.isFromBefore || state.resyncing) {
    return { ...state, waiting: [...state.waiting, params] };
  }
  if (params.sessionId !== session.sessionId || params.seq <= session.seq) {
    return state;
  }
  if (params.seq > session.seq + 1) {
    return { ...state, resyncing: true, waiting: [params] };
  }
  return { ...state, session: { ...applyUpdate(session, params.update), seq: params.seq } };
}

function takeFigures(state: PanelState, { sessionId, figures }: PanelMessage & { type: "figures" }): PanelState {
  if ((state.others.get(sessionId) ?? "idle") === (wantsAttention(figures.status) ? figures.status : "idle")) {
    return state;
  }
  const others = new Map(state.others);
  others.delete(sessionId);
  if (wantsAttention(figures.status)) {
    others.set(sessionId, figures.status);
  }
  return { ...state, others };
}

function takeTurns(state: PanelState, { sessionId, turns }: PanelMessage & { type: "turns" }): PanelState {
  if (state.session?.sessionId !== sessionId) {
    return state;
  }
  const known = new Map<string, Turn>(state.session.turns);
  for (const turn of turns) {
    known.set(turn.turnId, turn);
  }
  return { ...state, session: { ...state.session, turns: withOpen(known, state.session.changes) } };
}

function takeEarlierItems(state: PanelState, message: PanelMessage & { type: "earlierItems" }): PanelState {
  const { session } = state;
  if (session === undefined || session.sessionId !== message.sessionId) {
    return state;
  }
  const known = new Set(session.items.map((item) => item.id));
  const items = [...message.items.filter((item) => !known.has(item.id)), ...session.items];
  return { ...state, session: { ...session, items, earlier: message.earlier } };
}

function applyUpdate(session: SessionView, update: Update): SessionView {
  switch (update.kind) {
    case "item":
      if (session.turn?.promptId === update.item.id && update.item.kind === "user") {
        session = { ...session, turn: { promptId: update.item.id, turnCost: update.item.turnCost } };
      }
      return isBeforeAll(session, update.item) ? session : { ...session, items: putItem(session.items, update.item) };
    case "append":
      return { ...session, items: replaceItem(session.items, update.itemId, (item) => appendText(item, update.field, update.text)) };
    case "remove":
      return { ...session, items: session.items.filter((item) => item.id !== update.itemId) };
    case "state":
      return { ...session, state: update.state, retry: update.retry ?? undefined };
    case "gauge":
      return { ...session, gauge: update.gauge };
    case "plan":
      return { ...session, plan: update.entries };
    case "title":
      return { ...session, title: update.title };
    case "model":
      return { ...session, model: update.model };
    case "mode":
      return { ...session, modes: session.modes && { ...session.modes, currentModeId: update.currentModeId } };
    case "pins":
      return { ...session, pins: update.pins };
    case "changes":
      return { ...session, changes: update.changes, turns: withOpen(session.turns, update.changes) };
    case "running":
      return { ...session, running: update.commands };
    default:
      return session;
  }
}

/** An item that has not been loaded, such as a compaction of long ago that is undone now: it comes with those around it. */
function isBeforeAll({ items, earlier }: SessionView, item: Item): boolean {
  const oldest = items[0];
  return earlier > 0 && oldest !== undefined && item.at < oldest.at && findLastIndex(items, item.id) < 0;
}

/** A queued prompt whose turn begins moves to the end, where its turn is; any other item stays where it is. */
function putItem(items: readonly Item[], item: Item): readonly Item[] {
  const index = findLastIndex(items, item.id);
  const known = items[index];
  if (known === undefined) {
    return [...items, item];
  }
  if (known.kind === "user" && known.queued && item.kind === "user" && !item.queued) {
    return [...items.slice(0, index), ...items.slice(index + 1), item];
  }
  return items.with(index, item);
}

function replaceItem(items: readonly Item[], id: string, change: (item: Item) => Item): readonly Item[] {
  const index = findLastIndex(items, id);
  const known = items[index];
  return known === undefined ? items : items.with(index, change(known));
}

/** From the end: what changes is nearly always among the newest. */
function findLastIndex(items: readonly Item[], id: string): number {
  return items.findLastIndex((item) => item.id === id);
}

function appendText(item: Item, field: "text" | "output" | "input", text: string): Item {
  if (item.kind === "toolCall") {
    if (field === "output") {
      return { ...item, output: item.output + text };
    }
    return field === "input" ? { ...item, input: item.input + text } : item;
  }
  if (field === "text" && "text" in item) {
    return { ...item, text: item.text + text };
  }
  return item;
}

/** Items that fill a panel. */
const MOST_ITEMS = 30;

/** Characters that are kept: they are written with every change of the prompt box, too. */
const MOST_CHARACTERS = 30_000;

const ENDED = new Set(["completed", "failed", "cancelled", "undone"]);

/** What of a session is kept: its newest items as far as nothing can become of them any more. */
export function toKeep(session: SessionView): Snapshot {
  const { retry: _retry, history: _history, turns: _turns, changes: _changes, running: _running, ...fields } = session;
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

/** What was kept; undefined if it is nothing of the kind, such as of another version. */
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
