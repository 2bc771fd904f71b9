/** The preview of a compaction: its words, and what can be done with it. */

import { settle } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fate, Preview, PreviewCost } from "../../client-extension/src/protocol";
import { PreviewSheet } from "../../client-extension/webview/history/previewSheet";
import {
  breakEven,
  costRows,
  countFates,
  lineSizes,
  previewInWords,
  previewSizes,
  previewWay,
} from "../../client-extension/webview/history/sheetText";
import { recordMarkdown } from "../../client-extension/webview/history/compactionText";
import { Sheet } from "../../client-extension/webview/history/sheet";
import { INITIAL_STATE, reduce, type SessionView } from "../../client-extension/webview/state";
import { deferred } from "./deferred";
import { recordingActions } from "./recordingActions";
import { gauge, preview, previewLine, snapshot } from "./samples";

const COST: PreviewCost = { summary: 0.14, nextBefore: 0.07, nextAfter: 0.21, laterBefore: 0.07, laterAfter: 0.02 };

function session(used = 70_000, sessionId = "s1"): SessionView {
  const view = reduce(INITIAL_STATE, { type: "snapshot", snapshot: snapshot({ sessionId, gauge: gauge({ used }) }) }).session;
  assert.ok(view);
  return view;
}

interface Opened {
  sheet: Sheet;
  view: PreviewSheet;
  done: string[];
  text: () => string;
  button: (label: string) => HTMLButtonElement;
  focus: HTMLInputElement;
}

async function opened(answer: (params: { focus?: string }) => unknown, focus = ""): Promise<Opened> {
  const { actions, done } = recordingActions((_method, params) => answer(params));
  const sheet = new Sheet(
    () => undefined,
    (itemId) => actions.showItem(itemId),
  );
  document.body.replaceChildren(sheet.element);
  const view = new PreviewSheet(actions, sheet);
  view.open(focus, session());
  await settle();
  const button = (label: string) => {
    const found = [...sheet.element.querySelectorAll("button")].find(({ textContent }) => textContent === label);
    assert.ok(found, `no button ${label}`);
    return found;
  };
  const field = sheet.element.querySelector("input");
  assert.ok(field);
  return { sheet, view, done, text: () => sheet.element.textContent ?? "", button, focus: field };
}

test("it says how, what it saves, what it costs, and what becomes of each message", async () => {
  const lines = [
    previewLine("p1", { role: "user", fate: "pinned", tokensAfter: 5_210 }),
    previewLine("t1"),
    previewLine("r1", { fate: "kept" }),
  ];
  const { text } = await opened(() => preview({ cost: COST, lines, cleared: 1, restored: [{ path: "src/tank.py", note: "whole" }] }));
  for (const part of [
    "142k → 38k tokens",
    "85% → 22% full",
    "The model would write the summary",
    "1 tool result set aside; 2 of 3 stay. Nothing is deleted: you can undo it",
    "Writing the summary$0.14",
    "The next request$0.07$0.21",
    "Each one after it$0.07$0.02",
    "Costs $0.28 more at first: the summary, and a request that the provider's cache does not hold yet.",
    "Each later request is $0.05 cheaper: paid back after about 6.",
    "src/tank.py whole",
    "1 stays1 stays, pinned1 set aside",
    "title of t1set aside5.2k → 41",
  ]) {
    assert.ok(text().includes(part), `${part} is not in ${text()}`);
  }
});

test("what is applied has the focus that stands in the field", async () => {
  const { done, button, focus, sheet } = await opened(() => preview(), "the units");
  focus.value = " the datum ";
  button("Preview again").click();
  await settle();
  button("Compact").click();
  assert.deepEqual(done, [
    'ullage/session/previewCompaction {"focus":"the units"}',
    'ullage/session/previewCompaction {"focus":"the datum"}',
    'ullage/session/compact {"focus":"the datum"}',
  ]);
  assert.equal(sheet.shows, undefined);
});

test("Enter in the focus previews again; cancelling does nothing", async () => {
  const { done, button, focus, sheet } = await opened(() => preview());
  focus.dispatchEvent(new window.KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  await settle();
  button("Cancel").click();
  assert.deepEqual(done, ["ullage/session/previewCompaction {}", "ullage/session/previewCompaction {}"]);
  assert.equal(sheet.shows, undefined);
});

test("where there is nothing to compact it says so, and cannot be applied", async () => {
  const { text, button } = await opened(() => preview({ nothing: "There is nothing to compact yet" }));
  assert.match(text(), /There is nothing to compact yet/);
  assert.doesNotMatch(text(), /tokens/);
  assert.equal(button("Compact").disabled, true);
});

test("a refusal is shown in its place, and it can be tried again", async () => {
  const { text, button } = await opened(() => Promise.reject(new Error("The store cannot be read")));
  assert.match(text(), /The store cannot be read/);
  assert.equal(button("Compact").disabled, true);
  assert.equal(button("Preview again").disabled, false);
});

test("while it is computed it says so; only the newest answer is shown", async () => {
  const first = deferred<Preview>();
  const answers = [first.promise, Promise.resolve(preview({ tokensAfter: 20_000 }))];
  const { text, focus } = await opened(() => answers.shift());
  assert.match(text(), /Looking at what it would do/);
  focus.dispatchEvent(new window.KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  await settle();
  first.resolve(preview({ tokensAfter: 90_000 }));
  await settle();
  assert.match(text(), /142k → 20k tokens/);
});

test("an answer that comes after it was closed opens nothing", async () => {
  const late = deferred<Preview>();
  const { sheet } = await opened(() => late.promise);
  sheet.close();
  late.resolve(preview());
  await settle();
  assert.equal(sheet.element.hidden, true);
});

test("it says when the conversation has gone on, and closes with the session", async () => {
  const { view, text, sheet } = await opened(() => preview());
  view.update(session());
  assert.doesNotMatch(text(), /has changed/);
  view.update(session(71_000));
  assert.match(text(), /The conversation has changed/);
  view.update(session(71_000, "s2"));
  assert.equal(sheet.shows, undefined);
});

test("a line leads to its message; one without an item leads nowhere", async () => {
  const { sheet, done } = await opened(() => preview({ lines: [previewLine("t1"), previewLine("", { itemId: null, role: "record" })] }));
  const links = sheet.element.querySelectorAll<HTMLButtonElement>(".row-link");
  assert.equal(links.length, 1);
  links[0]?.click();
  assert.equal(done.at(-1), "showItem t1");
});

test("of ten thousand messages a part stands in the page", async () => {
  const lines = Array.from({ length: 10_000 }, (_, index) => previewLine(`t${index}`));
  const { sheet, text } = await opened(() => preview({ lines }));
  assert.equal(sheet.element.querySelectorAll(".fate-row").length, 200);
  assert.match(text(), /10000 set aside/);
});

test("titles and summaries are text, never markup", async () => {
  const hostile = "<img src=x onerror=alert(1)><script>x</script>";
  const { sheet } = await opened(() => preview({ summary: hostile, lines: [previewLine("t1", { title: hostile })] }));
  assert.equal(sheet.element.querySelector("img, script"), null);
});

function checkBreakEven(expected: string, changes: Partial<PreviewCost>): void {
  test(expected, () => assert.equal(breakEven({ ...COST, ...changes }), expected));
}

const FIRST = "a request that the provider's cache does not hold yet.";
checkBreakEven("Costs nothing, and saves nothing: this model has no price.", {
  summary: 0,
  nextBefore: 0,
  nextAfter: 0,
  laterBefore: 0,
  laterAfter: 0,
});
checkBreakEven("Cheaper from the next request on.", { summary: 0, nextAfter: 0.05 });
checkBreakEven(`Costs $0.04 more at first: ${FIRST} Each later request is $0.05 cheaper: paid back after about 1.`, {
  summary: 0,
  nextAfter: 0.11,
});
checkBreakEven(`Costs $0.28 more at first: the summary, and ${FIRST} It does not pay for itself: later requests cost no less.`, {
  laterAfter: 0.07,
});

function checkWords(fates: Fate[], expected: string): void {
  test(`${fates.join(", ")}: ${expected}`, () => {
    const lines = fates.map((fate, index) => previewLine(`t${index}`, { fate }));
    const of = (wanted: Fate) => fates.filter((fate) => fate === wanted).length;
    const counts = { summarised: of("summarised"), cleared: of("cleared"), snipped: of("snipped") };
    const others = [previewLine("n1", { role: "notice", fate: "summarised" }), previewLine("c1", { role: "record", fate: "summarised" })];
    const rest = "Nothing is deleted: you can undo it, and the model can look up what it no longer sees.";
    assert.equal(previewInWords({ lines: [...lines, ...others], ...counts }), `${expected}. ${rest}`);
  });
}

checkWords(["summarised", "summarised", "kept"], "2 messages summarised; 1 of 3 stays");
checkWords(
  ["summarised", "cleared", "snipped", "pinned"],
  "1 message summarised, 1 tool result set aside, 1 message cut from the middle; 1 of 4 stays",
);
checkWords(["kept", "pinned"], "Every message stays in view; 2 of 2 stay");
checkWords(["cleared", "clipped", "kept"], "1 tool result set aside; 2 of 3 stay");

test("what the price of a summary rests on is said", async () => {
  const { sheet } = await opened(() => preview({ cost: { ...COST, estimate: "An estimate: 2,500 tokens are assumed." } }));
  assert.match(sheet.element.querySelector(".preview-cost")?.textContent ?? "", /An estimate: 2,500 tokens are assumed\./);
});

test("a policy is named where it is not Ullage's own", () => {
  assert.equal(previewWay(preview({ way: "note", policy: "head-tail" })), "Only the newest messages would stay · policy head-tail");
  assert.equal(previewWay(preview({ way: "model" })), "The model would write the summary");
});

test("a change too small for short numbers is told in full", () => {
  assert.equal(previewSizes(preview({ tokensBefore: 24_315, tokensAfter: 24_130 })), "24,315 → 24,130 tokens");
});

test("a reply's title has no marks of Markdown; what others wrote stays as it is", async () => {
  const title = "Seen. ## What was found The **north tank** dips `731 mm`";
  const { sheet } = await opened(() =>
    preview({ lines: [previewLine("r1", { role: "assistant", title }), previewLine("p1", { role: "user", title })] }),
  );
  assert.deepEqual(
    [...sheet.element.querySelectorAll(".row-text")].map(({ textContent }) => textContent),
    ["Seen. What was found The north tank dips 731 mm", title],
  );
});

test("a folder's name in a record does not become a part of the list before it", () => {
  const record = "data/\n- readings.csv: dip_mm\ntankgauge/\n- table.py\n- tank.py\n  more of it\n\nEnd";
  assert.equal(recordMarkdown(record), "data/\n- readings.csv: dip\\_mm\n\ntankgauge/\n- table.py\n- tank.py\n  more of it\n\nEnd");
});

test("the focus field has a name that is seen", async () => {
  const { sheet, focus } = await opened(() => preview());
  assert.equal(sheet.element.querySelector("label")?.htmlFor, focus.id);
});

test("a summary that a program writes is free", () => {
  assert.equal(costRows({ ...COST, summary: 0 })[0]?.with, "free");
});

test("sizes and counts", () => {
  assert.equal(lineSizes(previewLine("t1", { tokensAfter: 5_210 })), "5.2k");
  const lines = [previewLine("a"), previewLine("b", { fate: "kept" }), previewLine("c")];
  assert.deepEqual(countFates(lines), [
    { fate: "kept", count: 1 },
    { fate: "cleared", count: 2 },
  ]);
});
