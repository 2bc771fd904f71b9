import assert from "node:assert/strict";
import { test } from "node:test";
import type { Item, Snapshot, Update, UpdateParams } from "../../client-extension/src/protocol";
import { INITIAL_STATE, type PanelState, reduce } from "../../client-extension/webview/state";
import { assistant, compaction, epoch, fate, gauge, snapshot, toolCall, update, user } from "./samples";

function opened(base: Snapshot, ...updates: UpdateParams[]): PanelState {
  const start = reduce(INITIAL_STATE, { type: "snapshot", snapshot: base });
  return updates.reduce((state, params) => reduce(state, { type: "update", params }), start);
}

function append(seq: number, text: string): UpdateParams {
  return update(seq, { kind: "append", itemId: "r1", field: "text", text });
}

function items(state: PanelState): readonly Item[] {
  return state.session?.items ?? [];
}

/** Updates on a snapshot must give the state that a snapshot taken after them gives. */
function check(name: string, base: Snapshot, updates: Update[], after: Partial<Snapshot>): void {
  test(name, () => {
    const numbered = updates.map((change, index) => update(base.seq + index + 1, change));
    const fresh = opened({ ...base, ...after, seq: base.seq + updates.length });
    assert.deepEqual(opened(base, ...numbered), fresh);
  });
}

check("a new item stands at the end", snapshot({ items: [user("p1")] }), [{ kind: "item", item: assistant("r1", "") }], {
  items: [user("p1"), assistant("r1", "")],
});
check(
  "an item replaces the one with its id, in place",
  snapshot({ items: [toolCall("t1"), assistant("r1", "x")] }),
  [{ kind: "item", item: toolCall("t1", { status: "completed", output: "done" }) }],
  { items: [toolCall("t1", { status: "completed", output: "done" }), assistant("r1", "x")] },
);
check(
  "text, output and input grow",
  snapshot({ items: [assistant("r1", "Hel"), toolCall("t1", { input: "{", output: "a" })] }),
  [
    { kind: "append", itemId: "r1", field: "text", text: "lo" },
    { kind: "append", itemId: "t1", field: "input", text: "}" },
    { kind: "append", itemId: "t1", field: "output", text: "b" },
  ],
  { items: [assistant("r1", "Hello"), toolCall("t1", { input: "{}", output: "ab" })] },
);
check("a removed item is gone", snapshot({ items: [user("p1"), user("p2")] }), [{ kind: "remove", itemId: "p1" }], { items: [user("p2")] });
check(
  "a queued prompt whose turn begins moves to the end",
  snapshot({ items: [user("p1"), user("p2", { queued: true }), assistant("r1", "answer")] }),
  [{ kind: "item", item: user("p2") }],
  { items: [user("p1"), assistant("r1", "answer"), user("p2")] },
);
check(
  "state, gauge, plan, title and model are replaced",
  snapshot({ state: "running", retry: { attempt: 1, at: 9, reason: "busy" } }),
  [
    { kind: "state", state: "idle" },
    { kind: "gauge", gauge: gauge({ used: 5 }) },
    { kind: "plan", entries: [{ content: "Test", status: "pending" }] },
    { kind: "title", title: "New" },
    { kind: "model", model: { name: "m", displayName: "M", practice: false, limitsSource: "table" } },
  ],
  {
    state: "idle",
    retry: null,
    gauge: gauge({ used: 5 }),
    plan: [{ content: "Test", status: "pending" }],
    title: "New",
    model: { name: "m", displayName: "M", practice: false, limitsSource: "table" },
  },
);

test("what does not change keeps its identity", () => {
  const before = opened(snapshot({ items: [user("p1"), assistant("r1", "a")] }));
  const after = reduce(before, { type: "update", params: update(1, { kind: "append", itemId: "r1", field: "text", text: "b" }) });
  assert.equal(items(after)[0], items(before)[0]);
  assert.notEqual(items(after)[1], items(before)[1]);
});

test("an update that was in the snapshot already is passed over", () => {
  const state = opened(snapshot({ seq: 5, items: [assistant("r1", "a")] }));
  assert.equal(reduce(state, { type: "update", params: update(5, { kind: "append", itemId: "r1", field: "text", text: "!" }) }), state);
});

test("an update of another session is passed over", () => {
  const state = opened(snapshot());
  assert.equal(reduce(state, { type: "update", params: update(1, { kind: "title", title: "x" }, "s2") }), state);
});

test("a gap asks for a snapshot, and what came meanwhile is built on it", () => {
  const gapped = opened(snapshot({ items: [assistant("r1", "")] }), append(1, "a"), append(3, "c"), append(4, "d"));
  assert.equal(gapped.resyncing, true);
  assert.deepEqual(items(gapped), [assistant("r1", "a")]);
  const healed = reduce(gapped, { type: "snapshot", snapshot: snapshot({ seq: 3, items: [assistant("r1", "abc")] }) });
  assert.equal(healed.resyncing, false);
  assert.deepEqual(items(healed), [assistant("r1", "abcd")]);
});

test("a snapshot that is too old for what waits leaves the gap open", () => {
  const gapped = opened(snapshot(), update(3, { kind: "title", title: "x" }));
  const still = reduce(gapped, { type: "snapshot", snapshot: snapshot({ seq: 1 }) });
  assert.equal(still.resyncing, true);
  const healed = reduce(still, { type: "snapshot", snapshot: snapshot({ seq: 2 }) });
  assert.equal(healed.resyncing, false);
  assert.equal(healed.session?.title, "x");
});

test("updates before the first snapshot wait for it", () => {
  const early = reduce(INITIAL_STATE, { type: "update", params: update(2, { kind: "title", title: "x" }) });
  const state = reduce(early, { type: "snapshot", snapshot: snapshot({ seq: 1 }) });
  assert.equal(state.session?.title, "x");
});

test("a snapshot of another session replaces everything", () => {
  const state = reduce(opened(snapshot({ items: [user("p1")], seq: 9 })), { type: "snapshot", snapshot: snapshot({ sessionId: "s2" }) });
  assert.deepEqual(state, opened(snapshot({ sessionId: "s2" })));
});

test("earlier items come before the known ones, once", () => {
  const state = opened(snapshot({ items: [user("p3")], earlier: 2 }));
  const loaded = reduce(state, { type: "earlierItems", sessionId: "s1", items: [user("p1"), user("p2"), user("p3")], earlier: 0 });
  assert.deepEqual(items(loaded), [user("p1"), user("p2"), user("p3")]);
  assert.equal(loaded.session?.earlier, 0);
});

test("earlier items of a session that is no longer shown are passed over", () => {
  const state = opened(snapshot());
  assert.equal(reduce(state, { type: "earlierItems", sessionId: "s0", items: [user("p1")], earlier: 0 }), state);
});

test("an append to an item that is not known changes nothing but the number", () => {
  const state = opened(snapshot(), update(1, { kind: "append", itemId: "gone", field: "text", text: "x" }));
  assert.deepEqual(state, opened(snapshot({ seq: 1 })));
});

test("a compaction of long ago that is undone does not come to the end", () => {
  const known = [user("p9", { at: 100 }), assistant("r9", "x")];
  const old = { kind: "item", item: compaction("c1", { status: "undone", at: 50 }) } as const;
  const state = opened(snapshot({ items: known, earlier: 40 }), update(1, old));
  assert.deepEqual(items(state), known);
  assert.equal(state.session?.seq, 1);
  assert.equal(opened(snapshot({ items: known }), update(1, old)).session?.items.length, 3);
});

test("what became of the items is kept over a snapshot of the same session, and goes with it", () => {
  const history = { epochs: [epoch(1)], fates: [fate("p1")] };
  const known = reduce(opened(snapshot()), { type: "history", sessionId: "s1", history });
  assert.equal(reduce(known, { type: "snapshot", snapshot: snapshot({ seq: 4 }) }).session?.history, history);
  assert.equal(reduce(known, { type: "snapshot", snapshot: snapshot({ sessionId: "s2" }) }).session?.history, undefined);
  assert.equal(reduce(known, { type: "history", sessionId: "s2", history: { epochs: [], fates: [] } }), known);
});
