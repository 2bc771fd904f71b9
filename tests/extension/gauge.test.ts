import assert from "node:assert/strict";
import { test } from "node:test";
import { type GaugeView, render, whenByItself } from "../../client-extension/src/session/gauge";
import type { Gauge, SessionState } from "../../client-extension/src/protocol";
import type { ServerStatus } from "../../client-extension/src/server/answers";
import { gauge } from "./samples";
import type { EarlySaving, NextCompaction } from "../../client-extension/src/protocol";

const RUNNING: ServerStatus = { state: "running" };

function check(name: string, input: [Gauge | undefined, SessionState, ServerStatus], expected: Partial<GaugeView>): void {
  test(name, () => {
    const view = render(...input);
    const shown = Object.fromEntries(Object.keys(expected).map((key) => [key, view[key as keyof GaugeView]]));
    assert.deepEqual(shown, expected);
  });
}

check("percentage of the line and room left", [gauge({ used: 70_000 }), "idle", RUNNING], {
  text: "$(dashboard) 41% · 97k left",
  background: undefined,
  command: "ullage.compact",
});
check("an empty context", [gauge({ used: 0, categories: [] }), "idle", RUNNING], { text: "$(dashboard) 0% · 167k left" });
check("an estimate says so", [gauge({ used: 70_000, estimated: true }), "running", RUNNING], { text: "$(dashboard) ~41% · 97k left" });
check("one token short of the line is not 100 %", [gauge({ used: 166_999 }), "idle", RUNNING], { text: "$(dashboard) 99% · 1 left" });
check("at the line", [gauge({ used: 167_000, level: "error" }), "idle", RUNNING], {
  text: "$(dashboard) 100% · 0 left",
  background: "error",
});
check("over the line there is no room, not less than none", [gauge({ used: 180_000, level: "error" }), "idle", RUNNING], {
  text: "$(dashboard) 107% · 0 left",
});
check("the level gives the colour", [gauge({ level: "warning" }), "idle", RUNNING], { background: "warning" });
check("compacting spins and cannot be started twice", [gauge({ used: 167_000 }), "compacting", RUNNING], {
  text: "$(sync~spin) 100% · compacting",
  command: "ullage.focus",
});
check("before a session is open", [undefined, "idle", RUNNING], { text: "$(loading~spin) Ullage", background: undefined });
check("while the server restarts", [gauge(), "idle", { state: "restarting" }], {
  text: "$(loading~spin) Ullage",
  ariaLabel: "Ullage: Restarting",
});
check("a stopped server outranks what was known", [gauge(), "running", { state: "stopped", message: "No Python" }], {
  text: "$(error) Ullage stopped",
  background: "error",
  ariaLabel: "Ullage: No Python. Activate to restart",
  command: "ullage.restartServer",
});
check("a screen reader hears words, not icons", [gauge({ estimated: true }), "idle", RUNNING], {
  ariaLabel: "Ullage: context about 41% full, 97k tokens left. Activate to compact",
});
check("no line, no division by zero", [gauge({ threshold: 0, used: 0 }), "idle", RUNNING], { text: "$(dashboard) 0% · 0 left" });

/** The line of the tooltip that speaks of this. Its other words may be changed without a change here. */
function lineOn(about: RegExp, tooltip: string): string {
  const found = tooltip.split("\n").filter((line) => about.test(line));
  assert.equal(found.length, 1, `${about} in\n${tooltip}`);
  return found[0] ?? "";
}

test("the tooltip says how much of the number is an estimate, as long as much of it is", () => {
  const { tooltip } = render(gauge({ estimated: true, estimatedTokens: 12_500 }), "running", RUNNING);
  assert.match(lineOn(/estimated/, tooltip), /12,500/);
  assert.ok(!render(gauge({ estimated: false, estimatedTokens: 40 }), "running", RUNNING).tooltip.includes("estimated"));
});

test("the tooltip tells the numbers, the parts, and what a compaction would do", () => {
  const { tooltip } = render(gauge(), "idle", RUNNING);
  assert.match(lineOn(/window/, tooltip), /70,000.*167,000.*200,000/);
  assert.match(lineOn(/cache/, tooltip), /93%/);
  assert.match(lineOn(/Cost/, tooltip), /\$0\.42/);
  assert.match(lineOn(/\bfree\b/, tooltip), /40k.*\$0\.05/);
  const when = whenByItself(gauge());
  for (const expected of [
    "| system prompt | 3,000 | 4% |",
    "| tool results: bash | 67,000 | 96% |",
    "| **70,000** |",
    when,
    "(command:ullage.compact)",
  ]) {
    assert.ok(tooltip.includes(expected), `${expected}\nis not in\n${tooltip}`);
  }
});

test("the tooltip leaves out what is not known", () => {
  const { tooltip } = render(gauge({ cacheHitRate: null, cost: undefined, frees: 0, next: { why: "off" } }), "idle", RUNNING);
  assert.doesNotMatch(tooltip, /cache|Cost/);
  assert.match(lineOn(/\bfree\b/, tooltip), /nothing/);
  assert.ok(tooltip.includes(whenByItself(gauge({ next: { why: "off" } }))), tooltip);
});

test("after an undo it says why nothing is compacted at 100 %", () => {
  const { tooltip } = render(gauge({ used: 170_000, next: { why: "undone", at: 211_750 } }), "idle", RUNNING);
  assert.match(lineOn(/undid/, tooltip), /42k/);
  assert.ok(!tooltip.includes(whenByItself(gauge())), tooltip);
});

/** What a sentence speaks of, and the share at which it compacts; null: none is named. */
const SENTENCES: [NextCompaction, RegExp, string | null][] = [
  [{ why: "threshold", at: 167_000 }, /itself/, "100%"],
  [{ why: "threshold", at: 167_000, whileEditing: true }, /pause.*edit/, "100%"],
  [{ why: "window", at: 160_000 }, /window/, "95%"],
  [{ why: "grown", at: 175_350 }, /last compaction/, "105%"],
  [{ why: "unanswered", at: 167_000 }, /answered/, "100%"],
  [{ why: "failed", at: 167_000 }, /failed/, null],
  [{ why: "off" }, /\bnot\b.*refuses/, null],
];
for (const [next, about, share] of SENTENCES) {
  test(`when it compacts by itself: ${next.why}${next.whileEditing ? ", while editing" : ""}`, () => {
    const sentence = whenByItself(gauge({ next }));
    assert.match(sentence, about);
    assert.deepEqual(sentence.match(/\d+%/g), share === null ? null : [share]);
  });
}

test("a compaction that is to save is announced, and can be put off there", () => {
  const ahead = (saving: EarlySaving) => render(gauge({ next: { why: "threshold", at: 167_000, saving } }), "idle", RUNNING).tooltip;
  const soon = ahead({ when: "pause", dollars: 0.4 });
  assert.match(lineOn(/to save/, soon), /\$0\.40.*pause/);
  assert.ok(soon.includes("[Not now](command:ullage.postponeCompaction?%5B%22turn%22%5D)"), soon);
  assert.ok(soon.includes("[Not in this session](command:ullage.postponeCompaction?%5B%22session%22%5D)"), soon);
  const withPrompt = lineOn(/to save/, ahead({ when: "prompt", dollars: 0.4 }));
  assert.match(withPrompt, /\$0\.40.*next prompt/);
  assert.doesNotMatch(withPrompt, /pause/);
  const putOff = ahead({ when: "prompt", dollars: 0.4, postponed: "turn" });
  assert.match(lineOn(/to save/, putOff), /\$0\.40.*not before.*turn/);
  assert.ok(putOff.includes("[Allow it](command:ullage.postponeCompaction?%5B%22none%22%5D)"), putOff);
  assert.doesNotMatch(render(gauge(), "idle", RUNNING).tooltip, /to save/);
});

test("what costs nothing has no price", () => {
  assert.doesNotMatch(lineOn(/\bfree\b/, render(gauge({ freesCost: 0 }), "idle", RUNNING).tooltip), /\$/);
});

test("the tooltip says by which policy and measure it counts, where that is not Ullage's own", () => {
  const { tooltip } = render(gauge({ policy: "head-tail", measure: "characters / 4", used: 20 }), "idle", RUNNING);
  assert.match(lineOn(/policy/, tooltip), /head\\-tail.*quarter.*characters/);
  assert.ok(tooltip.includes("| system prompt | 3,000 | 4% |"), tooltip);
  assert.doesNotMatch(render(gauge(), "idle", RUNNING).tooltip, /policy/);
});

test("the tooltip's rows add up to the number above them, to the last token", () => {
  const categories = [
    { name: "user", tokens: 67 },
    { name: "tool results: read_file", tokens: 17_912 },
    { name: "assistant", tokens: 2_021 },
    { name: "files", tokens: 0 },
  ];
  const { tooltip } = render(gauge({ used: 20_000, categories }), "idle", RUNNING);
  const shown = [...tooltip.matchAll(/^\| [^|*]+ \| ([\d,]+) \|/gm)].map(([, tokens]) => Number(tokens?.replace(",", "")));
  assert.deepEqual(shown, [67, 17_912, 2_021]);
  assert.match(lineOn(/167,000/, tooltip), /20,000/);
  assert.ok(tooltip.includes("| **20,000** |"), tooltip);
  assert.ok(tooltip.includes("| your messages | 67 | \\<1% |"), tooltip);
});

test("names in the tooltip are text, not Markdown", () => {
  const { tooltip } = render(gauge({ categories: [{ name: "[x](command:evil) | <b>", tokens: 5 }] }), "idle", RUNNING);
  assert.ok(tooltip.includes("| \\[x\\]\\(command:evil\\) \\| \\<b\\> | 5 |"), tooltip);
});
