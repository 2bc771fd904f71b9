/** What became of the conversation: marks at items, pins, the timeline sheet, and when it is asked for. */

import { settle } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Epoch, Item, Snapshot } from "../../client-extension/src/protocol";
import { EpochsSheet } from "../../client-extension/webview/epochsSheet";
import { epochFacts, fatesInWords } from "../../client-extension/webview/epochText";
import { changesHistory, HistoryFeed } from "../../client-extension/webview/historyFeed";
import { EXCLUDED, FATES, marksOf } from "../../client-extension/webview/fates";
import { makeItemView } from "../../client-extension/webview/items";
import { PinsView } from "../../client-extension/webview/pinsView";
import { Sheet } from "../../client-extension/webview/sheet";
import { INITIAL_STATE, reduce, type History, type PanelMessage, type SessionView } from "../../client-extension/webview/state";
import { deferred, type Deferred } from "./deferred";
import { recordingActions } from "./recordingActions";
import { assistant, compaction, epoch, fate, snapshot, toolCall, update, user } from "./samples";

const DONE = { status: "completed", output: "done" } as const;

function session(changes: Partial<Snapshot>, history?: History): SessionView {
  let state = reduce(INITIAL_STATE, { type: "snapshot", snapshot: snapshot(changes) });
  if (history !== undefined) {
    state = reduce(state, { type: "history", sessionId: "s1", history });
  }
  assert.ok(state.session);
  return state.session;
}

function drawn(item: Item): { view: ReturnType<typeof makeItemView>; done: string[]; button: (label: string) => HTMLButtonElement | null } {
  const { actions, done } = recordingActions();
  const view = makeItemView(item, actions);
  return { view, done, button: (label) => view.element.querySelector<HTMLButtonElement>(`button[aria-label^="${label}"]`) };
}

for (const item of [user("p1"), assistant("r1.0", "text"), toolCall("t1", DONE)]) {
  test(`${item.kind}: pinned, unpinned and excluded by labelled buttons`, () => {
    const { view, done, button } = drawn(item);
    button("Pin: no compaction touches it")?.click();
    view.mark({ pinned: true, gone: undefined });
    button("Unpin")?.click();
    button("Exclude")?.click();
    assert.deepEqual(done, [
      `ullage/session/pin {"itemId":"${item.id}","pinned":true}`,
      `ullage/session/pin {"itemId":"${item.id}","pinned":false}`,
      `ullage/session/exclude {"itemId":"${item.id}"}`,
    ]);
  });
}

test("what the model no longer sees says so; what was excluded cannot be again, what is in a summary can", () => {
  const { view, button } = drawn(user("p1"));
  view.mark({ pinned: false, gone: FATES.summarised });
  assert.match(view.element.querySelector(".item-mark")?.textContent ?? "", /summarised/);
  assert.equal(button("Exclude")?.hidden, false);
  view.mark({ pinned: false, gone: EXCLUDED });
  assert.equal(button("Exclude")?.hidden, true);
  view.mark({ pinned: false, gone: undefined });
  assert.equal(view.element.querySelector<HTMLElement>(".item-mark")?.hidden, true);
  assert.equal(button("Exclude")?.hidden, false);
});

test("a call can be pinned from when it has a result", () => {
  const { view, button } = drawn(toolCall("t1", { status: "running" }));
  assert.equal(button("Pin"), null);
  view.update(toolCall("t1", DONE));
  assert.ok(button("Pin"));
});

test("notices and compactions cannot be pinned", () => {
  assert.equal(drawn(compaction("c1")).button("Pin"), null);
});

test("marks join pins and fates; what the user took out is called so; what is seen has none", () => {
  const history = {
    epochs: [epoch(1), epoch(2), epoch(3, { policy: "user" })],
    fates: [fate("p1"), fate("t1", { fate: "cleared", compactionId: "c3" }), fate("t2", { fate: "clipped", compactionId: null })],
  };
  const marks = marksOf({ itemIds: ["p1", "p9"], paths: [] }, history);
  assert.deepEqual(Object.fromEntries(marks), {
    p1: { pinned: true, gone: FATES.summarised },
    t1: { pinned: false, gone: EXCLUDED },
    c3: { pinned: false, gone: undefined, about: "t1" },
    p9: { pinned: true, gone: undefined },
  });
});

test("the focus stays at what was undone, and at a message that was excluded", () => {
  const { view } = drawn(compaction("c1"));
  const message = drawn(user("p1"));
  document.body.replaceChildren(view.element, message.view.element);
  view.element.querySelector<HTMLElement>(".compaction-head button")?.focus();
  view.update(compaction("c1", { status: "undone" }));
  assert.equal(document.activeElement?.textContent, "Redo");
  message.button("Exclude")?.focus();
  message.view.mark({ pinned: false, gone: EXCLUDED });
  assert.match(document.activeElement?.getAttribute("aria-label") ?? "", /^Pin/);

  const { sheet, epochs } = timeline(HISTORY);
  document.body.replaceChildren(sheet.element);
  sheet.element.querySelector<HTMLElement>('[aria-label="Undo compaction 2"]')?.focus();
  epochs.update(
    session({}, { ...HISTORY, epochs: HISTORY.epochs.map((each) => (each.number === 2 ? { ...each, status: "undone" } : each)) }),
  );
  assert.equal(document.activeElement?.getAttribute("aria-label"), "Redo compaction 2");
});

test("what was taken out by hand leads to what it was", () => {
  const { view, done } = drawn(compaction("c1", { policy: "user" }));
  const link = () => [...view.element.querySelectorAll("button")].find(({ textContent }) => textContent === "Go to it");
  assert.equal(link()?.hidden, true);
  view.mark({ pinned: false, gone: undefined, about: "t1" });
  assert.equal(link()?.hidden, false);
  link()?.click();
  assert.deepEqual(done, ["showItem t1"]);
});

test("pinned files can be opened and unpinned", () => {
  const { actions, done } = recordingActions();
  const pins = new PinsView(actions);
  pins.update({ itemIds: [], paths: [] });
  assert.equal(pins.element.hidden, true);
  pins.update({ itemIds: [], paths: ["src/tank.py"] });
  const [open, unpin] = pins.element.querySelectorAll("button");
  assert.equal(open?.textContent, "tank.py");
  open?.click();
  unpin?.click();
  assert.deepEqual(done, ["openFile src/tank.py", 'ullage/session/pin {"path":"src/tank.py","pinned":false}']);
});

// The timeline

function timeline(history: History): { sheet: Sheet; epochs: EpochsSheet; done: string[]; reading: boolean[] } {
  const { actions, done } = recordingActions();
  const reading: boolean[] = [];
  const sheet = new Sheet(
    () => undefined,
    (itemId) => actions.showItem(itemId),
  );
  const epochs = new EpochsSheet(actions, sheet, (isRead) => reading.push(isRead));
  epochs.open(session({}));
  epochs.update(session({}, history));
  return { sheet, epochs, done, reading };
}

const HISTORY: History = {
  epochs: [
    epoch(1),
    epoch(2),
    epoch(3, { status: "undone", summarised: 4 }),
    epoch(4, { current: true, restored: [{ path: "src/tank.py", note: "whole" }] }),
  ],
  fates: [
    fate("p1"),
    fate("r1.0", { role: "assistant" }),
    fate("r1.1", { role: "assistant" }),
    fate("t1", { compactionId: "c4", fate: "cleared", role: "tool" }),
  ],
};

/** As a click does; jsdom tells of it a little later. */
function unfold(details: HTMLDetailsElement): void {
  details.open = true;
  details.dispatchEvent(new window.Event("toggle"));
}

function heads(sheet: Sheet): string[] {
  return [...sheet.element.querySelectorAll(".epoch-head")].map((head) => [...head.children].map((child) => child.textContent).join(" "));
}

test("the epochs stand newest first, with state and the way back", () => {
  const { sheet, done } = timeline(HISTORY);
  assert.deepEqual(heads(sheet), ["Epoch 4 current Undo", "Epoch 3 undone Redo", "Epoch 2 in force Undo", "Epoch 1"]);
  for (const label of ["Undo compaction 2", "Redo compaction 3"]) {
    sheet.element.querySelector<HTMLButtonElement>(`[aria-label="${label}"]`)?.click();
  }
  assert.deepEqual(done, ['ullage/session/undoCompaction {"compactionId":"c2"}', 'ullage/session/redoCompaction {"compactionId":"c3"}']);
});

test("an epoch says what became of each message, once for each reply, with a link to it", () => {
  const { sheet, done } = timeline(HISTORY);
  const details = [...sheet.element.querySelectorAll("details")];
  assert.deepEqual(
    details.map((each) => each.querySelector("summary")?.textContent),
    ["Messages: 1 set aside", "Messages: 2 summarised"],
  );
  const second = details[1];
  assert.ok(second);
  assert.equal(second.querySelector(".fate-row"), null);
  unfold(second);
  const rows = [...second.querySelectorAll(".fate-row")];
  assert.deepEqual(
    rows.map((row) => row.textContent),
    ["You: title of p1summarised", "Ullage: title of r1.1summarised"],
  );
  rows[0]?.querySelector("button")?.click();
  assert.deepEqual(done, ["showItem p1"]);
});

function facts(each: Epoch): Record<string, string> {
  return Object.fromEntries(
    epochFacts({ ...each, at: 0 })
      .filter(({ name }) => name !== "When")
      .map(({ name, text }) => [name, text]),
  );
}

test("an epoch says why, how, with how many tokens and for how much", () => {
  assert.deepEqual(facts(epoch(2, { trigger: "threshold", rung: "model", compactionCost: 0.1, cost: 0.16, requests: 4 })), {
    Why: "The context reached its line",
    How: "Summary written by the model",
    Tokens: "142k → 38k",
    Cost: "$0.10 for the summary, $0.16 for 4 requests since",
  });
  assert.deepEqual(facts(epoch(1, { compactionCost: null, cost: 0.02, requests: 1 })), {
    Why: "The beginning",
    Cost: "$0.02 for 1 request since",
  });
  const byHand = epoch(3, { policy: "user", tokensBefore: 24_315, tokensAfter: 24_130, compactionCost: null, requests: 0 });
  assert.deepEqual(facts(byHand), { Why: "You excluded a message", Tokens: "24,315 → 24,130", Cost: "no request since" });
  assert.match(facts(epoch(2, { policy: "head-tail", rung: "tail" }))["How"] ?? "", /policy head-tail$/);
});

test("files that were read again are named, and can be opened", () => {
  const { sheet, done } = timeline(HISTORY);
  [...sheet.element.querySelectorAll<HTMLButtonElement>(".link-button")].find(({ textContent }) => textContent === "src/tank.py")?.click();
  assert.deepEqual(done, ["openFile src/tank.py"]);
});

test("what stays for it is pinned is not counted as changed", () => {
  const fates = [fate("p1", { fate: "pinned" }), fate("p2"), fate("p3", { fate: "pinned" })];
  assert.equal(fatesInWords(fates, epoch(2)), "Messages: 2 stay, pinned · 1 summarised");
  assert.equal(fatesInWords([fate("p1")], epoch(2, { policy: "user" })), "Messages: 1 excluded");
});

test("what became of messages is explained where it is shown", () => {
  const { sheet } = timeline(HISTORY);
  const details = sheet.element.querySelectorAll("details")[1];
  assert.ok(details);
  unfold(details);
  assert.deepEqual(
    [...details.querySelectorAll("p")].map(({ textContent }) => textContent),
    ["Summarised: The model sees the summary in its place; it can get it back.", "All other messages stayed as they were."],
  );
});

test("what was unfolded stays unfolded when a compaction is undone", () => {
  const { sheet, epochs } = timeline(HISTORY);
  const details = sheet.element.querySelectorAll("details")[1];
  assert.ok(details);
  unfold(details);
  epochs.update(
    session({}, { ...HISTORY, epochs: HISTORY.epochs.map((each) => (each.number === 4 ? { ...each, status: "undone" } : each)) }),
  );
  assert.equal(sheet.element.querySelectorAll("details")[1]?.open, true);
  assert.match(heads(sheet)[0] ?? "", /undone Redo/);
});

test("it waits for a list with titles, and closes with the session", () => {
  const { actions } = recordingActions();
  const sheet = new Sheet(
    () => undefined,
    (itemId) => actions.showItem(itemId),
  );
  const reading: boolean[] = [];
  const epochs = new EpochsSheet(actions, sheet, (isRead) => reading.push(isRead));
  epochs.open(session({}));
  epochs.update(session({}, { epochs: [epoch(1)], fates: [fate("p1", { title: null })] }));
  assert.match(sheet.element.textContent ?? "", /Reading the log/);
  epochs.update(session({ sessionId: "s2" }));
  assert.equal(sheet.shows, undefined);
  assert.deepEqual(reading, [true, false]);
});

test("a session without compactions says that all is seen", () => {
  assert.match(timeline({ epochs: [epoch(1, { current: true })], fates: [] }).sheet.element.textContent ?? "", /Nothing was compacted yet/);
});

test("thousands of messages come a part at a time", () => {
  const fates = Array.from({ length: 5_000 }, (_, index) => fate(`p${index}`));
  const { sheet } = timeline({ epochs: [epoch(1), epoch(2, { current: true })], fates });
  const details = sheet.element.querySelector("details");
  assert.ok(details);
  unfold(details);
  assert.equal(details.querySelectorAll(".fate-row").length, 200);
  const more = [...details.querySelectorAll("button")].find((button) => button.textContent === "Show 200 more of 4800");
  more?.click();
  assert.equal(details.querySelectorAll(".fate-row").length, 400);
});

test("what others wrote is never markup", () => {
  const { sheet } = timeline({ epochs: [epoch(2, { policy: "<b>bold</b>" })], fates: [fate("p1", { title: "<img src=x>" })] });
  assert.equal(sheet.element.querySelector("b, img"), null);
});

test("what waits for an approval below the sheet is said on it, with the way there", () => {
  const { sheet, done } = timeline(HISTORY);
  const waiting = sheet.element.querySelector<HTMLButtonElement>(".sheet-waiting");
  assert.equal(waiting?.hidden, true);
  sheet.showWaiting("t1");
  assert.equal(waiting?.hidden, false);
  waiting?.click();
  assert.deepEqual(done, ["showItem t1"]);
});

// When it is asked for

test("it is asked for when a compaction ends, is undone, or comes with older items", () => {
  const asked: [PanelMessage, boolean][] = [
    [{ type: "snapshot", snapshot: snapshot({ items: [compaction("c1")] }) }, true],
    [{ type: "snapshot", snapshot: snapshot({ items: [user("p1")] }) }, false],
    [{ type: "update", params: update(1, { kind: "item", item: compaction("c1", { status: "in_progress" }) }) }, false],
    [{ type: "update", params: update(1, { kind: "item", item: compaction("c1") }) }, true],
    [{ type: "update", params: update(1, { kind: "item", item: compaction("c1", { status: "undone" }) }) }, true],
    [{ type: "update", params: update(1, { kind: "item", item: user("p1") }) }, false],
    [{ type: "earlierItems", sessionId: "s1", items: [compaction("c1")], earlier: 0 }, true],
    [{ type: "earlierItems", sessionId: "s1", items: [user("p1")], earlier: 0 }, true],
    [{ type: "earlierItems", sessionId: "s1", items: [], earlier: 0 }, false],
  ];
  for (const [message, expected] of asked) {
    assert.equal(changesHistory(message), expected, JSON.stringify(message));
  }
});

test("while one answer is awaited others are asked for once more, afterwards", async () => {
  const answers: Deferred<History>[] = [];
  const asked: unknown[] = [];
  const taken: PanelMessage[] = [];
  const feed = new HistoryFeed(
    (params) => {
      asked.push(params);
      const answer = deferred<History>();
      answers.push(answer);
      return answer.promise as never;
    },
    () => ({ sessionId: "s1", items: [compaction("c1"), user("p1"), assistant("r1.0", "text")] }),
    (message) => taken.push(message),
  );
  void feed.refresh();
  feed.titled = true;
  void feed.refresh();
  void feed.refresh();
  assert.equal(answers.length, 1);
  answers[0]?.resolve({ epochs: [], fates: [] });
  await settle();
  assert.deepEqual(asked, [
    { sessionId: "s1", since: "p1" },
    { sessionId: "s1", titles: true },
  ]);
  answers[1]?.reject(new Error("gone"));
  await settle();
  assert.equal(answers.length, 2);
  assert.equal(taken.length, 1);
});
