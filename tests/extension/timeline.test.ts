import { layOut, layOutColumn, resized, settle } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Item, NoticeItem, Snapshot } from "../../client-extension/src/protocol";
import { INITIAL_STATE, reduce, type SessionView } from "../../client-extension/webview/state";
import { Timeline } from "../../client-extension/webview/conversation/timeline";
import { PANEL_CSS } from "./colours";
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
  document.body.replaceChildren(timeline.element);
  return { timeline, done };
}

const ROW = 100;
const SHOWN = 500;

/** A browser of which 500 pixels show, with rows of 100 pixels: scrolls, and waits until what is near has been drawn. */
async function scrollTo(timeline: Timeline, top: number): Promise<void> {
  const column = timeline.element.firstElementChild;
  assert.ok(column);
  layOutColumn(column, ROW);
  const last = column.lastElementChild;
  assert.ok(last instanceof window.HTMLElement);
  layOut(timeline.element, { scrollHeight: last.offsetTop + last.offsetHeight, clientHeight: SHOWN, scrollTop: top });
  resized();
  layOut(timeline.element, { scrollHeight: last.offsetTop + last.offsetHeight, clientHeight: SHOWN, scrollTop: top });
  timeline.element.dispatchEvent(new window.Event("scroll"));
  for (let frame = 0; frame < 20; frame += 1) {
    await settle();
  }
}

/** How high the empty space before the first row of the page is. */
function spaceBefore(timeline: Timeline): number {
  const first = timeline.element.querySelector<HTMLElement>(".items > *");
  return first?.className === "space-of-rows" ? Number.parseFloat(first.style.height) : 0;
}

/** More rows than show and stand ready near it. */
const MOST = 100;

test("of a long conversation the newest part stands in the page, and space for the rest", () => {
  const { timeline } = opened({ items: many(10_000) });
  assert.ok(shownIds(timeline).length < MOST);
  assert.equal(shownIds(timeline).at(-1), "r9999");
  assert.ok(spaceBefore(timeline) > 100_000);
});

test("however far one scrolls, only what is near stands in the page, in its order", async () => {
  const { timeline } = opened({ items: many(10_000) });
  await scrollTo(timeline, 900_000);
  for (const top of [500_000, 499_000, 498_500, 100_000, 0, 300, 900_000]) {
    await scrollTo(timeline, top);
    const ids = shownIds(timeline);
    const first = Number(ids[0]?.slice(1));
    assert.ok(ids.length >= SHOWN / ROW && ids.length < MOST, `${ids.length} rows`);
    assert.deepEqual(
      ids,
      ids.map((_, index) => `r${first + index}`),
    );
    const space = spaceBefore(timeline);
    assert.ok(space <= top && space + ids.length * ROW >= top + SHOWN, `at ${top} rows from ${space}`);
  }
});

test("a short row below a very long one leaves what shows of that in the page", async () => {
  const items = [user("p1"), assistant("long", "so long"), user("p2")];
  const { timeline } = opened({ items });
  const column = timeline.element.firstElementChild;
  assert.ok(column);
  layOutColumn(column, ROW);
  timeline.element.querySelector<HTMLElement>('[data-item-id="long"]')?.style.setProperty("height", "60000px");
  layOut(timeline.element, { scrollHeight: 60_200, clientHeight: SHOWN, scrollTop: 59_700 });
  resized();
  timeline.update(session({ items: [...items, assistant("short", "so short")] }));
  resized();
  await settle();
  assert.deepEqual(shownIds(timeline).slice(-3), ["long", "p2", "short"]);
});

test("a row that comes back is as the user left it, and one that nobody touched is forgotten", async () => {
  const [call, another] = ["t1", "t2"].map((id) => toolCall(id, { status: "completed", output: "14 passed" }));
  assert.ok(call && another);
  const { timeline } = opened({ items: [call, another, ...many(1_000)] });
  const header = (id: string) => timeline.element.querySelector<HTMLElement>(`[data-item-id="${id}"] .tool-header`);
  await scrollTo(timeline, 90_000);
  await scrollTo(timeline, 0);
  const [touched, other] = [header("t1"), header("t2")];
  touched?.click();
  await scrollTo(timeline, 90_000);
  assert.equal(header("t1"), null);
  await scrollTo(timeline, 0);
  assert.equal(header("t1")?.getAttribute("aria-expanded"), "true");
  assert.equal(header("t1"), touched);
  assert.ok(header("t2") !== null && header("t2") !== other);
});

test("a row that changed while it was away comes back as it is now", async () => {
  const items = [toolCall("t1", { status: "running", output: "a" }), ...many(1_000)];
  const { timeline } = opened({ items });
  await scrollTo(timeline, 90_000);
  await scrollTo(timeline, 0);
  timeline.element.querySelector<HTMLElement>(".tool-header")?.click();
  await scrollTo(timeline, 90_000);
  timeline.update(session({ items: [toolCall("t1", { status: "failed", output: "a" }), ...many(1_000)] }));
  await scrollTo(timeline, 0);
  assert.ok(timeline.element.querySelector('[data-item-id="t1"].failed'));
});

test("what has the focus or is selected stays in the page, in its place", async () => {
  const { timeline } = opened({ items: many(1_000) });
  await scrollTo(timeline, 90_000);
  await scrollTo(timeline, 50_000);
  const [focused, , from, , to] = timeline.element.querySelectorAll<HTMLElement>(".item");
  assert.ok(focused && from && to);
  focused.tabIndex = -1;
  focused.focus();
  document.getSelection()?.setBaseAndExtent(from, 0, to, 0);
  await scrollTo(timeline, 10_000);
  const held = [...timeline.element.querySelectorAll<HTMLElement>(".item")].slice(-4);
  assert.equal(document.activeElement, focused);
  assert.deepEqual([held[0], held[1], held[3]], [focused, from, to]);
  document.getSelection()?.removeAllRanges();
  focused.blur();
  await scrollTo(timeline, 10_100);
  assert.equal(focused.isConnected, false);
});

test("new items do not push out what the user is reading", async () => {
  const { timeline } = opened({ items: many(200) });
  await scrollTo(timeline, 10_000);
  await scrollTo(timeline, 0);
  const before = shownIds(timeline);
  timeline.update(session({ items: many(230) }));
  assert.deepEqual(shownIds(timeline), before);
});

test("what the server holds before the first item is asked for, and shown when it comes", async () => {
  const { timeline, done } = opened({ items: many(50, 50), earlier: 50 });
  await scrollTo(timeline, 3_000);
  assert.equal(done.length, 0);
  await scrollTo(timeline, 0);
  assert.ok(done.includes("loadEarlier"));
  timeline.update(session({ items: many(100), earlier: 0 }));
  await scrollTo(timeline, 0);
  assert.equal(shownIds(timeline)[0], "r0");
});

test("an answer that grows changes one row, however many there are", () => {
  const { timeline } = opened({ items: [...many(1_000), assistant("x", "one")] });
  const observer = new window.MutationObserver(() => undefined);
  observer.observe(timeline.element, { subtree: true, childList: true, characterData: true, attributes: true });
  timeline.update(session({ items: [...many(1_000), assistant("x", "one two")] }));
  const changed = observer.takeRecords().map(({ target }) => (target as Element).closest?.<HTMLElement>(".item")?.dataset.itemId);
  assert.deepEqual(new Set(changed), new Set(["x"]));
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
    permissionId: "q1",
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
  resized();
  assert.equal(timeline.element.scrollTop, 900);
});

test("an item is looked up without drawing all that is between", () => {
  const { timeline } = opened({ items: many(10_000) });
  assert.equal(timeline.reveal("r500"), true);
  const ids = shownIds(timeline);
  assert.ok(ids.includes("r500") && ids.length < MOST, `${ids.length} items`);
  assert.equal(document.activeElement === null || ids.includes("r9999"), false);
});

test("an item that is not loaded cannot be looked up yet", () => {
  assert.equal(opened({ items: many(10), earlier: 5 }).timeline.reveal("r500"), false);
});

test("from what was looked up one scrolls on to the end", async () => {
  const { timeline } = opened({ items: many(1_000) });
  await scrollTo(timeline, 90_000);
  timeline.reveal("r100");
  await scrollTo(timeline, 10_000);
  const last = shownIds(timeline).at(-1);
  await scrollTo(timeline, 11_000);
  assert.notEqual(shownIds(timeline).at(-1), last);
  timeline.goToEnd();
  assert.equal(shownIds(timeline).at(-1), "r999");
  assert.ok(shownIds(timeline).length < MOST);
});

test("what was looked up stays while new items come", () => {
  const { timeline } = opened({ items: many(1_000) });
  timeline.reveal("r100");
  const before = shownIds(timeline);
  timeline.update(session({ items: many(1_001) }));
  assert.deepEqual(shownIds(timeline), before);
});

test("the way to the end is there while the user is not, stands outside the conversation, and goes with the session", async () => {
  const { timeline } = opened({ items: many(1_000) });
  assert.equal(timeline.jump.hidden, true);
  assert.equal(timeline.element.contains(timeline.jump), false);
  await scrollTo(timeline, 1_000);
  assert.equal(timeline.jump.hidden, false);
  timeline.jump.click();
  assert.equal(timeline.jump.hidden, true);
  await scrollTo(timeline, 1_000);
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

function notice(id: string, action: NoticeItem["action"], level: NoticeItem["level"] = "error"): NoticeItem {
  return { kind: "notice", id, at: 1, level, text: id, action };
}

const WAITING = notice("nwaiting", "continue", "info");
const QUEUED = user("p2", { queued: true });

for (const [when, items] of [
  ["a stop", [notice("stopped", "continue")]],
  ["a stop with prompts waiting", [notice("stopped", "continue"), QUEUED, WAITING]],
  ["a stop that came behind what waits", [WAITING, QUEUED, notice("stopped", "continue")]],
  ["a turn that failed", [notice("failed", "continue")]],
  ["a turn that failed twice", [notice("failed", "continue"), notice("failed again", "continue")]],
  ["a turn that failed with prompts waiting", [notice("failed", "settings"), QUEUED, WAITING]],
  ["a stop, and something that is only said", [notice("stopped", "continue"), notice("said", "none", "info")]],
  ["a stop, and a compaction", [notice("stopped", "continue"), compaction("c1")]],
] as [string, Item[]][]) {
  test(`there is exactly one button to go on after ${when}`, () => {
    const { timeline } = opened({ items: [user("p1"), assistant("a1", "so far"), ...items] });
    const style = document.createElement("style");
    style.textContent = Array.from(PANEL_CSS.matchAll(/^\.notice:has[^{}]+\{[^{}]*\}/gm), ([rule]) => rule).join("\n");
    document.body.append(style);
    const buttons = [...timeline.element.querySelectorAll<HTMLElement>(".go-on")];
    assert.equal(buttons.filter((each) => window.getComputedStyle(each).display !== "none").length, 1);
  });
}
