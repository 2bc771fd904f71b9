/** What became of the conversation: marks at items, pins, the timeline sheet, and when it is asked for. */

import { settle } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Epoch, EpochFates, Item, Snapshot } from "../../client-extension/src/protocol";
import { EpochsSheet } from "../../client-extension/webview/history/epochsSheet";
import { epochFacts, foldInWords } from "../../client-extension/webview/history/sheetText";
import { changesHistory, HistoryFeed } from "../../client-extension/webview/history/feed";
import { EXCLUDED, FATES, marksOf } from "../../client-extension/webview/history/fates";
import { makeItemView } from "../../client-extension/webview/items";
import { PinsView } from "../../client-extension/webview/dock/trays";
import { Sheet } from "../../client-extension/webview/history/sheet";
import { type History, INITIAL_STATE, type PanelMessage, reduce, type SessionView } from "../../client-extension/webview/state";
import { deferred, type Deferred } from "./deferred";
import { recordingActions } from "./recordingActions";
import { assistant, compaction, epoch, epochFates, fate, snapshot, toolCall, update, user } from "./samples";
import { readAgainInWords } from "../../client-extension/webview/history/compactionText";

const RESTORED = [
  { path: "src/tank.py", note: "whole" },
  { path: "src/survey.py", note: "no room", notRead: true },
];

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
  test(`${item.kind}: pinned, unpinned, excluded and forked from by labelled buttons`, () => {
    const { view, done, button } = drawn(item);
    button("Pin: no compaction touches it")?.click();
    view.mark({ pinned: true, gone: undefined });
    button("Unpin")?.click();
    button("Exclude")?.click();
    button(item.kind === "user" ? "Edit and send again" : "Fork from here")?.click();
    assert.deepEqual(done, [
      `ullage/session/pin {"itemId":"${item.id}","pinned":true}`,
      `ullage/session/pin {"itemId":"${item.id}","pinned":false}`,
      `ullage/session/exclude {"itemId":"${item.id}"}`,
      item.kind === "user" ? `editPrompt ${item.id}` : `command ullage.forkSession ${item.id}`,
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
  const link = () => [...view.element.querySelectorAll("button")].find(({ textContent }) => textContent === "Show it");
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

/** What became of the messages of each epoch, by its number and the group. */
type Fates = Record<string, EpochFates>;

const FATES_OF: Fates = {
  "1.changed": epochFates([], { kept: 2 }),
  "1.kept": epochFates([fate("p1", { fate: "kept", compactionId: null }), fate("t1", { fate: "clipped", compactionId: null })], {
    changed: 0,
    kept: 2,
  }),
  "2.changed": epochFates([fate("p1"), fate("t1", { role: "tool", restored: "src/tank.py" })], { kept: 1, before: 1 }),
  "2.kept": epochFates([fate("p2", { fate: "kept", compactionId: null })], { changed: 2, before: 1, kept: 1 }),
  "2.before": epochFates([fate("p0", { compactionId: "c0" })], { changed: 2, before: 1, kept: 1 }),
  "3.changed": epochFates([fate("p2", { compactionId: "c3" })]),
  "4.changed": epochFates([fate("t1", { compactionId: "c4", fate: "cleared", role: "tool" })]),
};

function timeline(
  history: History,
  answers: Fates = FATES_OF,
): { sheet: Sheet; epochs: EpochsSheet; done: string[]; opened: () => number } {
  const { actions, done } = recordingActions((_, params) => {
    const { number, group } = params as { number: number; group: string };
    return answers[`${number}.${group}`] ?? Promise.reject(new Error("The log cannot be read"));
  });
  let opened = 0;
  const sheet = new Sheet(
    () => undefined,
    (itemId) => actions.showItem(itemId),
  );
  const epochs = new EpochsSheet(actions, sheet, () => (opened += 1));
  epochs.open(session({}));
  epochs.update(session({}, history));
  return { sheet, epochs, done, opened: () => opened };
}

const HISTORY: History = {
  epochs: [
    epoch(1),
    epoch(2),
    epoch(3, { status: "undone", summarised: 4 }),
    epoch(4, { current: true, restored: RESTORED, summarised: 0, cleared: 1 }),
  ],
  fates: [],
};

/** As a click does; jsdom tells of it a little later. What is asked for then has come when it is done. */
async function unfold(details: HTMLDetailsElement | null | undefined): Promise<void> {
  assert.ok(details);
  details.open = true;
  details.dispatchEvent(new window.Event("toggle"));
  await settle();
}

/** The messages of an epoch, folded. */
function messagesOf(sheet: Sheet, number: number): HTMLDetailsElement | null {
  return sheet.element.querySelector<HTMLDetailsElement>(`.epoch[data-number="${number}"] > details`);
}

function folds(within: HTMLElement | null): (string | undefined)[] {
  return [...(within?.querySelectorAll("summary") ?? [])].map(({ textContent }) => textContent ?? undefined);
}

function rows(within: HTMLElement | null): (string | undefined)[] {
  return [...(within?.querySelectorAll(".fate-row") ?? [])].map(({ textContent }) => textContent ?? undefined);
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

test("an epoch says how many messages its compaction took away, in the words of its card", () => {
  const { sheet } = timeline(HISTORY);
  assert.deepEqual(folds(sheet.element), ["1 tool result set aside", "4 messages summarised", "12 messages summarised", "Messages"]);
  assert.equal(
    foldInWords(epoch(2, { summarised: 3, cleared: 2, snipped: 1 })),
    "3 messages summarised · 2 tool results set aside · 1 message cut from the middle",
  );
  assert.equal(foldInWords(epoch(2, { summarised: 0 })), "Every message stayed in view");
  assert.equal(foldInWords(epoch(2, { policy: "user", summarised: 0, snipped: 1 })), "1 message excluded");
  assert.equal(foldInWords(epoch(2, { policy: "user", summarised: 0 })), "Messages");
  const excludedFiles = ["src/tank.py"];
  assert.equal(
    foldInWords(epoch(2, { policy: "user", summarised: 0, cleared: 2, excludedFiles })),
    "src/tank.py excluded · 2 messages excluded",
  );
});

test("unfolded it says what became of each, with a link to it; what stayed and what was gone before are folded", async () => {
  const { sheet, done } = timeline(HISTORY);
  const second = messagesOf(sheet, 2);
  assert.deepEqual(rows(second), []);
  await unfold(second);
  assert.deepEqual(rows(second), ["You: title of p1summarised", "Tool: title of t1summarised, read again"]);
  assert.deepEqual(folds(second), ["12 messages summarised", "1 message stayed", "1 message set aside before"]);
  second?.querySelector<HTMLButtonElement>(".fate-row button")?.click();
  const [kept, before] = second?.querySelectorAll("details") ?? [];
  await unfold(kept);
  await unfold(before);
  assert.deepEqual([...rows(kept ?? null), ...rows(before ?? null)], ["You: title of p2stays", "You: title of p0summarised"]);
  assert.deepEqual(done, [
    'ullage/session/epochFates {"number":2,"group":"changed","offset":0}',
    "showItem p1",
    'ullage/session/epochFates {"number":2,"group":"kept","offset":0}',
    'ullage/session/epochFates {"number":2,"group":"before","offset":0}',
  ]);
});

test("an epoch that was undone says what it did, the first one what there was", async () => {
  const { sheet } = timeline(HISTORY);
  await unfold(messagesOf(sheet, 3));
  assert.deepEqual(rows(messagesOf(sheet, 3)), ["You: title of p2summarised"]);
  await unfold(messagesOf(sheet, 1));
  assert.deepEqual(rows(messagesOf(sheet, 1)), ["You: title of p1stays", "You: title of t1shortened"]);
});

test("what cannot be read says so, and is asked for again", async () => {
  const { sheet, done } = timeline(HISTORY, {});
  const second = messagesOf(sheet, 2);
  await unfold(second);
  assert.match(second?.textContent ?? "", /The log cannot be read/);
  const asked = done.length;
  await unfold(second);
  assert.ok(done.length > asked);
});

test("what the user took out is called so in every epoch", async () => {
  const history: History = { epochs: [epoch(1), epoch(2, { policy: "user", snipped: 1 }), epoch(3, { current: true })], fates: [] };
  const out = fate("p1", { fate: "snipped", compactionId: "c2" });
  const { sheet } = timeline(history, {
    "2.changed": epochFates([out]),
    "3.changed": epochFates([], { before: 1 }),
    "3.before": epochFates([out]),
  });
  await unfold(messagesOf(sheet, 2));
  assert.deepEqual(rows(messagesOf(sheet, 2)), ["You: title of p1excluded"]);
  await unfold(messagesOf(sheet, 3));
  await unfold(messagesOf(sheet, 3)?.querySelector("details"));
  assert.deepEqual(rows(messagesOf(sheet, 3)), ["You: title of p1excluded"]);
});

function facts(each: Epoch): Record<string, string> {
  return Object.fromEntries(
    epochFacts({ ...each, at: 0 })
      .filter(({ name }) => name !== "When")
      .map(({ name, text }) => [name, text]),
  );
}

test("an epoch says why, how, with how many tokens and for how much", () => {
  assert.deepEqual(facts(epoch(2, { trigger: "threshold", way: "model", compactionCost: 0.1, cost: 0.16, requests: 4 })), {
    Why: "Context full: compacted automatically",
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
  assert.equal(facts({ ...byHand, excludedFiles: ["src/tank.py"] })["Why"], "You excluded a file");
  assert.match(facts(epoch(2, { policy: "head-tail", way: "note" }))["How"] ?? "", /policy head-tail$/);
  const again = epoch(2, { fetchedAgain: { files: ["src/tank.py"], tokens: 1_240 } });
  assert.equal(facts(again)["Afterwards"], "read again: 1 file, 1.2k tokens");
});

test("what had no room is named apart from the files that were read again", () => {
  const { sheet } = timeline(HISTORY);
  const terms = [...sheet.element.querySelectorAll("dt")].map((term) => [term.textContent, term.nextElementSibling?.textContent]);
  assert.deepEqual(
    terms.filter(([term]) => /read again/i.test(term ?? "")),
    [
      ["Read again", "src/tank.py"],
      ["Not read again", "src/survey.py"],
    ],
  );
});

test("card, timeline and preview count the same files", () => {
  assert.equal(readAgainInWords(RESTORED), "1 file read again");
  assert.equal(readAgainInWords(RESTORED.slice(1)), "");
  const inPart = { path: "src/hull.py", note: "the parts seen last and an outline" };
  assert.equal(readAgainInWords([inPart]), "1 file read again in part");
  assert.equal(readAgainInWords([...RESTORED, inPart]), "2 files read again, 1 of them in part");
});

test("files that were read again are named, and can be opened", () => {
  const { sheet, done } = timeline(HISTORY);
  [...sheet.element.querySelectorAll<HTMLButtonElement>(".link-button")].find(({ textContent }) => textContent === "src/tank.py")?.click();
  assert.deepEqual(done, ["openFile src/tank.py"]);
});

test("what became of messages is explained where it is shown", async () => {
  const { sheet } = timeline(HISTORY);
  await unfold(messagesOf(sheet, 2));
  assert.deepEqual(
    [...(messagesOf(sheet, 2)?.querySelectorAll("p") ?? [])].map(({ textContent }) => textContent),
    ["Summarised: The model sees the summary instead, and can get it back."],
  );
});

test("what was unfolded stays unfolded, and as it was read, when a compaction is undone", async () => {
  const { sheet, epochs } = timeline(HISTORY);
  await unfold(messagesOf(sheet, 2));
  epochs.update(
    session({}, { ...HISTORY, epochs: HISTORY.epochs.map((each) => (each.number === 4 ? { ...each, status: "undone" } : each)) }),
  );
  assert.equal(messagesOf(sheet, 2)?.open, true);
  assert.equal(rows(messagesOf(sheet, 2)).length, 2);
  assert.match(heads(sheet)[0] ?? "", /undone Redo/);
});

test("it waits for the list, and closes with the session", () => {
  const { actions } = recordingActions();
  const sheet = new Sheet(
    () => undefined,
    (itemId) => actions.showItem(itemId),
  );
  let opened = 0;
  const epochs = new EpochsSheet(actions, sheet, () => (opened += 1));
  epochs.open(session({}));
  epochs.update(session({}));
  assert.match(sheet.element.textContent ?? "", /Reading the log/);
  epochs.update(session({ sessionId: "s2" }));
  assert.equal(sheet.shows, undefined);
  assert.equal(opened, 1);
});

test("a session without compactions says that all is seen", () => {
  assert.match(timeline({ epochs: [epoch(1, { current: true })], fates: [] }).sheet.element.textContent ?? "", /Nothing was compacted yet/);
});

test("thousands of messages come a part at a time", async () => {
  const all = Array.from({ length: 450 }, (_, index) => fate(`p${index}`));
  const { actions, done } = recordingActions((_, params) => {
    const { offset } = params as { offset: number };
    return epochFates(all.slice(offset, offset + 200), { changed: all.length });
  });
  const sheet = new Sheet(
    () => undefined,
    (itemId) => actions.showItem(itemId),
  );
  const epochs = new EpochsSheet(actions, sheet, () => undefined);
  epochs.open(session({}));
  epochs.update(session({}, { epochs: [epoch(1), epoch(2, { current: true })], fates: [] }));
  const details = messagesOf(sheet, 2);
  await unfold(details);
  const more = () => [...(details?.querySelectorAll("button") ?? [])].find(({ textContent }) => textContent?.startsWith("Show "));
  assert.equal(rows(details).length, 200);
  assert.equal(more()?.textContent, "Show 200 more of 250");
  more()?.click();
  await settle();
  more()?.click();
  await settle();
  assert.equal(new Set(rows(details)).size, 450);
  assert.equal(more()?.hidden, true);
  assert.equal(done.at(-1), 'ullage/session/epochFates {"number":2,"group":"changed","offset":400}');
});

test("what others wrote is never markup", async () => {
  const { sheet } = timeline(
    { epochs: [epoch(1), epoch(2, { policy: "<b>bold</b>" })], fates: [] },
    { "2.changed": epochFates([fate("p1", { title: "<img src=x>" })]) },
  );
  await unfold(messagesOf(sheet, 2));
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
  void feed.refresh();
  void feed.refresh();
  assert.equal(answers.length, 1);
  answers[0]?.resolve({ epochs: [], fates: [] });
  await settle();
  assert.deepEqual(asked, [
    { sessionId: "s1", since: "p1" },
    { sessionId: "s1", since: "p1" },
  ]);
  answers[1]?.reject(new Error("gone"));
  await settle();
  assert.equal(answers.length, 2);
  assert.equal(taken.length, 1);
});
