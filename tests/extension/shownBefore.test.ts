/** The end of a conversation that is kept for the next time the window is loaded. */

import "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Item, Snapshot } from "../../client-extension/src/protocol";
import { Banners } from "../../client-extension/webview/header";
import { asKept, INITIAL_STATE, type PanelState, reduce, toKeep } from "../../client-extension/webview/state";
import { recordingActions } from "./recordingActions";
import { assistant, snapshot, toolCall, update, user } from "./samples";

function kept(items: Item[] = [user("p1"), assistant("r1", "x")], earlier = 0): Snapshot {
  const { session } = reduce(INITIAL_STATE, { type: "snapshot", snapshot: snapshot({ items, earlier, state: "running" }) });
  assert.ok(session);
  return toKeep(session);
}

function reopened(): PanelState {
  return reduce(INITIAL_STATE, { type: "shownBefore", snapshot: kept() });
}

test("what is kept is short, ends with the newest, and counts what precedes it", () => {
  const { items, earlier } = kept(
    Array.from({ length: 500 }, (_, index) => assistant(`r${index}`, "x".repeat(5_000))),
    7,
  );
  assert.equal(items.at(-1)?.id, "r499");
  assert.ok(items.length > 1 && JSON.stringify(items).length < 31_000);
  assert.equal(earlier + items.length, 507);
});

test("nothing is kept of what was going on", () => {
  const running = [toolCall("t1", { status: "awaiting_permission" }), toolCall("t2"), user("p2", { queued: true })];
  const { items, state } = kept([user("p1"), toolCall("t0", { status: "failed" }), ...running]);
  assert.deepEqual(
    items.map(({ id }) => id),
    ["p1", "t0"],
  );
  assert.equal(state, "idle");
});

test("what was kept survives being written, and what is something else is left out", () => {
  assert.deepEqual(asKept(JSON.parse(JSON.stringify(kept())))?.items, kept().items);
  for (const value of [undefined, null, 7, "x", {}, { sessionId: "s1", items: 3 }, { sessionId: "s1", items: [user("p1")] }]) {
    assert.equal(asKept(value), undefined);
  }
});

test("it is shown until the session is open, and what comes before that is not lost", () => {
  let state = reopened();
  assert.equal(state.isFromBefore, true);
  state = reduce(state, { type: "update", params: update(6, { kind: "title", title: "new" }) });
  assert.equal(state.session?.title, "");
  state = reduce(state, { type: "snapshot", snapshot: snapshot({ seq: 5, items: [user("p9")] }) });
  assert.equal(state.isFromBefore, false);
  assert.deepEqual([state.session?.title, state.session?.items.length], ["new", 1]);
});

test("the panel says what it waits for", () => {
  const banners = new Banners(recordingActions().actions);
  const said = (state: PanelState) => {
    banners.update(state);
    return banners.element.querySelector('[role="status"]')?.textContent ?? "";
  };
  let state = reopened();
  assert.equal(said(state), "Starting the Ullage server…");
  state = reduce(state, { type: "server", status: { state: "running" } });
  assert.equal(said(state), "Opening the session…");
  state = reduce(state, { type: "snapshot", snapshot: snapshot({ items: [user("p9")], model: { ...snapshot().model, practice: false } }) });
  assert.equal(said(state), "");
});
