import { layOut, resized } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Item, Snapshot } from "../../client-extension/src/protocol";
import { INITIAL_STATE, reduce, type SessionView } from "../../client-extension/webview/state";
import { PAGE, Timeline } from "../../client-extension/webview/timeline";
import { recordingActions } from "./recordingActions";
import { assistant, compaction, snapshot, toolCall, user } from "./samples";

function session(changes: Partial<Snapshot>): SessionView {
  const view = reduce(INITIAL_STATE, { type: "snapshot", snapshot: snapshot(changes) }).session;
  assert.ok(view);
  return view;
}

function many(count: number, from = 0): Item[] {
  return Array.from({ length: count }, (_, index) => assistant(`r${from + index}`, `text ${from + index}`));
}

function shownIds(timeline: Timeline): string[] {
  return [...timeline.element.querySelectorAll<HTMLElement>(".item")].map((element) => element.dataset.itemId ?? "");
}

function opened(changes: Partial<Snapshot>): { timeline: Timeline; done: string[] } {
  const { actions, done } = recordingActions();
  const timeline = new Timeline(actions, document.createElement("div"));
  timeline.update(session(changes));
  return { timeline, done };
}

function scrollTo(timeline: Timeline, top: number): void {
  layOut(timeline.element, { scrollHeight: 5_000, clientHeight: 500, scrollTop: top });
  timeline.element.dispatchEvent(new window.Event("scroll"));
}

test("of a long conversation the newest part stands in the page", () => {
  const { timeline } = opened({ items: many(10_000) });
  assert.equal(shownIds(timeline).length, PAGE);
  assert.equal(shownIds(timeline).at(-1), "r9999");
});

test("scrolling to the top shows what is before it", () => {
  const { timeline } = opened({ items: many(200) });
  scrollTo(timeline, 0);
  assert.deepEqual(shownIds(timeline).slice(0, 1), [`r${200 - 2 * PAGE}`]);
});

test("new items do not push out what the user is reading", () => {
  const { timeline } = opened({ items: many(200) });
  scrollTo(timeline, 0);
  const before = shownIds(timeline);
  timeline.update(session({ items: many(230) }));
  assert.deepEqual(shownIds(timeline).slice(0, before.length), before);
});

test("what the server holds before the first item is asked for, and shown when it comes", () => {
  const { timeline, done } = opened({ items: many(10, 50), earlier: 50 });
  scrollTo(timeline, 0);
  assert.deepEqual(done, ["loadEarlier"]);
  timeline.update(session({ items: many(60), earlier: 0 }));
  assert.equal(shownIds(timeline)[0], "r0");
});

test("an item that changes keeps its element; one that is removed goes", () => {
  const { timeline } = opened({ items: [user("p1"), toolCall("t1"), assistant("r1", "x")] });
  const element = timeline.element.querySelector('[data-item-id="t1"]');
  timeline.update(session({ items: [user("p1"), toolCall("t1", { status: "completed", output: "done" })] }));
  assert.equal(timeline.element.querySelector('[data-item-id="t1"]'), element);
  assert.deepEqual(shownIds(timeline), ["p1", "t1"]);
});

test("items stand in the order of the session", () => {
  const { timeline } = opened({ items: [user("p1"), assistant("r1", "x")] });
  timeline.update(session({ items: [user("p1"), user("p2"), assistant("r1", "x"), assistant("r2", "y")] }));
  assert.deepEqual(shownIds(timeline), ["p1", "p2", "r1", "r2"]);
});

test("queued prompts do not stand in the conversation", () => {
  const { timeline } = opened({ items: [user("p1"), user("p2", { queued: true })] });
  assert.deepEqual(shownIds(timeline), ["p1"]);
});

test("another session is drawn from its beginning", () => {
  const { timeline } = opened({ items: many(5) });
  timeline.update(session({ sessionId: "s2", items: [user("r1")] }));
  assert.deepEqual(shownIds(timeline), ["r1"]);
  assert.match(timeline.element.textContent ?? "", /prompt r1/);
});

test("what is unfolded at the end of the panel is brought into view, what is folded stays", (t) => {
  const call = toolCall("t1", { status: "completed", output: "14 passed" });
  const { timeline } = opened({ items: [assistant("r1", "x"), call, compaction("c1", { summary: "What came before" })] });
  const shown: (string | undefined)[] = [];
  t.mock.method(window.Element.prototype, "scrollIntoView", function (this: Element) {
    shown.push(this.closest<HTMLElement>(".item")?.dataset.itemId);
  });
  const header = timeline.element.querySelector<HTMLElement>(".tool-header");
  const details = timeline.element.querySelector<HTMLDetailsElement>(".compaction-details");
  assert.ok(header && details);
  for (const [click, expected] of [
    [() => header.click(), ["t1"]],
    [() => header.click(), ["t1"]],
    [() => details.querySelector("summary")?.click(), ["t1", "c1"]],
    [() => undefined, ["t1", "c1"]],
  ] as const) {
    click();
    resized();
    assert.deepEqual(shown, expected);
  }
});

test("of a question that is longer than what shows the beginning is kept in sight, then the end again", () => {
  const { timeline } = opened({ items: many(3) });
  layOut(timeline.element, { scrollHeight: 900, clientHeight: 200, scrollTop: 700 });
  const asking = toolCall("t1", {
    status: "awaiting_permission",
    permission: [{ optionId: "once", name: "Allow once", kind: "allow_once" }],
  });
  timeline.update(session({ items: [...many(3), asking] }));
  const call = timeline.element.querySelector<HTMLElement>('[data-item-id="t1"]');
  assert.ok(call);
  Object.defineProperties(call, { offsetHeight: { value: 400 }, offsetTop: { value: 480 } });
  resized();
  assert.equal(timeline.element.scrollTop, 480);
  timeline.element.dispatchEvent(new window.Event("scroll"));
  assert.ok(timeline.jump.hidden);
  timeline.update(session({ items: [...many(3), toolCall("t1", { status: "completed", output: "done" })] }));
  assert.equal(timeline.element.scrollTop, 900);
});

test("an item is looked up without drawing all that is between", () => {
  const { timeline } = opened({ items: many(10_000) });
  assert.equal(timeline.reveal("r500"), true);
  const ids = shownIds(timeline);
  assert.ok(ids.includes("r500") && ids.length <= 2 * PAGE, `${ids.length} items`);
  assert.equal(document.activeElement === null || ids.includes("r9999"), false);
});

test("an item that is not loaded cannot be looked up yet", () => {
  assert.equal(opened({ items: many(10), earlier: 5 }).timeline.reveal("r500"), false);
});

test("from what was looked up one scrolls on to the end", () => {
  const { timeline } = opened({ items: many(1_000) });
  timeline.reveal("r100");
  const last = shownIds(timeline).at(-1);
  scrollTo(timeline, 4_500);
  assert.notEqual(shownIds(timeline).at(-1), last);
  timeline.goToEnd();
  assert.equal(shownIds(timeline).at(-1), "r999");
  assert.equal(shownIds(timeline).length, PAGE);
});

test("what was looked up stays while new items come", () => {
  const { timeline } = opened({ items: many(1_000) });
  timeline.reveal("r100");
  const before = shownIds(timeline);
  timeline.update(session({ items: many(1_001) }));
  assert.deepEqual(shownIds(timeline), before);
});

test("the way to the end is there while the user is not, stands outside the conversation, and goes with the session", () => {
  const { timeline } = opened({ items: many(1_000) });
  assert.equal(timeline.jump.hidden, true);
  assert.equal(timeline.element.contains(timeline.jump), false);
  scrollTo(timeline, 1_000);
  assert.equal(timeline.jump.hidden, false);
  timeline.jump.click();
  assert.equal(timeline.jump.hidden, true);
  scrollTo(timeline, 1_000);
  timeline.update(session({ sessionId: "s2", items: many(1) }));
  assert.equal(timeline.jump.hidden, true);
});

test("marks follow pins", () => {
  const { timeline } = opened({ items: [user("p1"), assistant("r1", "x")], pins: { itemIds: ["r1"], paths: [] } });
  const pinned = () => [...timeline.element.querySelectorAll<HTMLElement>("[data-pinned]")].map(({ dataset }) => dataset.itemId);
  assert.deepEqual(pinned(), ["r1"]);
  timeline.update(session({ items: [user("p1"), assistant("r1", "x")], pins: { itemIds: ["p1"], paths: [] } }));
  assert.deepEqual(pinned(), ["p1"]);
});
