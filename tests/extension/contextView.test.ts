/** The context view: its words, its picture, its list of very many rows, and what is done from it. */

import { settle } from "./dom";
import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import type { CacheClock, ContextFill, ContextPart, ContextQuery, Snapshot } from "../../client-extension/src/protocol";
import { ContextSheet } from "../../client-extension/webview/context/contextSheet";
import { cacheInWords, missInWords, partFacts } from "../../client-extension/webview/context/contextText";
import { targetOf } from "../../client-extension/webview/context/partList";
import { laidOut, tilesOf } from "../../client-extension/webview/context/treemap";
import { Sheet } from "../../client-extension/webview/history/sheet";
import { INITIAL_STATE, reduce } from "../../client-extension/webview/state";
import { recordingActions } from "./recordingActions";
import { snapshot } from "./samples";

const CLOCK: CacheClock = {
  lives: 300,
  read: 69_000,
  anew: 1_000,
  startedAt: 1_000,
  warmCost: 0.021,
  coldCost: 1.1,
  compactWarmCost: 0.04,
  compactColdCost: 1.2,
};

const part = (changes: Partial<ContextPart> = {}): ContextPart => ({
  kind: "call",
  title: "Read src/tank.py",
  tokens: 5_000,
  sent: true,
  itemId: "t1",
  turnsAgo: 3,
  paths: ["src/tank.py"],
  touchedSince: false,
  ...changes,
});

function fill(parts: readonly ContextPart[], changes: Partial<ContextFill> = {}): ContextFill {
  const used = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  const kinds = [...new Set(parts.map(({ kind }) => kind))].map((kind) => {
    const own = parts.filter((each) => each.kind === kind);
    return { kind, count: own.length, tokens: own.reduce((sum, { tokens }) => sum + tokens, 0) };
  });
  return {
    ...{ used, threshold: 100_000, size: 200_000, estimatedTokens: 0, kinds, largest: [...parts].slice(0, 120), total: parts.length },
    ...{ parts: parts.slice(0, 200), cache: CLOCK, requests: 40, missed: 0, misses: [], readPrice: 2e-7, writePrice: 5e-6, ...changes },
  };
}

/** Those that were opened: each has a clock that ticks. */
const sheets: Sheet[] = [];

afterEach(() => {
  for (const sheet of sheets.splice(0)) {
    sheet.close();
  }
});

function newSheet(): Sheet {
  const made = new Sheet(
    () => undefined,
    () => undefined,
  );
  sheets.push(made);
  return made;
}

function press(key: string): void {
  document.activeElement?.dispatchEvent(new window.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
}

async function opened(parts: readonly ContextPart[], changes: Partial<ContextFill> = {}, session: Partial<Snapshot> = {}) {
  const { actions, done } = recordingActions();
  const asked: ContextQuery[] = [];
  actions.ask = (_method, params) => {
    const query = params as ContextQuery;
    asked.push(query);
    const offset = query.offset ?? 0;
    return Promise.resolve({ ...fill(parts, changes), parts: parts.slice(offset, offset + 200) } as never);
  };
  const place = newSheet();
  document.body.replaceChildren(place.element);
  const state = reduce(INITIAL_STATE, { type: "snapshot", snapshot: { ...snapshot(), ...session } });
  const shown = new ContextSheet(actions, place, () => "And the pump?");
  shown.open(state.session);
  await settle();
  const rows = () => [...place.element.querySelectorAll<HTMLElement>(".part-row")];
  return { shown, place, done, asked, rows, state };
}

void describe("the words of the context view", () => {
  test("the clock says how long the cache is warm and what comes then", () => {
    assert.deepEqual(cacheInWords(CLOCK, 1_080), [
      "Warm for 3:40: the next prompt costs about $0.02, after that $1.10",
      "Compacting now costs about $0.04",
    ]);
    assert.deepEqual(cacheInWords(CLOCK, 1_300), [
      "The prompt cache is cold: the next prompt costs about $1.10",
      "Compacting now costs about $1.20",
    ]);
    assert.deepEqual(cacheInWords({ lives: 300, read: 0, anew: 9 }, 5), ["The prompt cache is cold"]);
    assert.deepEqual(cacheInWords({ ...CLOCK, warmCost: 0, coldCost: 0, compactWarmCost: 0 }, 1_080), [
      "The prompt cache is warm for 3:40",
    ]);
  });

  test("a part says its share, its age, its price, and whether its file was touched since", () => {
    const whole = fill([part()]);
    assert.equal(partFacts(part(), whole).join(" · "), "5% of the threshold · 3 turns ago · $0.0010 a request · file not touched since");
    assert.equal(
      partFacts(part({ sent: false, turnsAgo: 0, touchedSince: true }), whole).join(" · "),
      "5% of the threshold · this turn · $0.03 with the next request",
    );
  });

  test("a miss says what was sent anew, and every reason", () => {
    const miss = { at: 0, tokens: 61_000, cost: 0.29, idle: 412, reasons: ["tools", "expired"] as const };
    assert.deepEqual(missInWords({ ...miss, reasons: [...miss.reasons] }), {
      head: "61k sent anew, $0.29 more",
      why: "the tools changed; the cache had gone cold (6 min 52 s after the request before)",
    });
  });
});

void describe("the picture", () => {
  const parts = [
    part({ tokens: 60_000 }),
    ...Array.from({ length: 400 }, (_, index) => part({ kind: "reply", tokens: 100, title: `R${index}` })),
  ];

  test("has a tile for each large part, and one for the small ones of a kind; they add up", () => {
    const tiles = tilesOf(fill(parts));
    assert.deepEqual(
      tiles.map(({ kind, tokens, count }) => [kind, tokens, count]),
      [
        ["call", 60_000, 1],
        ["reply", 40_000, 400],
      ],
    );
  });

  test("gives each tile the room that it takes", () => {
    const boxes = laidOut(tilesOf(fill(parts)), 300, 150);
    const area = boxes.map(({ width, height }) => width * height);
    assert.ok(Math.abs((area[0] ?? 0) / (300 * 150) - 0.6) < 0.03, String(area));
    assert.ok(boxes.every(({ x, y, width, height }) => x >= 0 && y >= 0 && x + width <= 300 && y + height <= 150));
  });
});

void describe("the list", () => {
  const many = Array.from({ length: 10_000 }, (_, index) => part({ title: `Message ${index}`, itemId: `i${index}`, tokens: 7 }));

  test("has few of ten thousand rows in the page, and asks for others when they come near", async () => {
    const { rows, asked, place } = await opened(many);
    assert.ok(rows().length < 60, String(rows().length));
    assert.deepEqual(asked, [{ limit: 200, draft: "And the pump?" }]);
    place.element.querySelector<HTMLElement>(".part-open")?.focus();
    press("End");
    await settle();
    assert.deepEqual(asked.slice(1), [{ offset: 9_800, limit: 200 }]);
    assert.match(document.activeElement?.closest(".part-row")?.textContent ?? "", /Message 9999/);
    press("Home");
    assert.match(document.activeElement?.textContent ?? "", /Message 0/);
    press("ArrowDown");
    assert.match(document.activeElement?.textContent ?? "", /Message 1/);
  });

  test("leads to the conversation, pins and excludes", async () => {
    const { rows, done } = await opened([part(), part({ kind: "file", title: "a.py", itemId: "c1", paths: ["a.py"], pinned: true })]);
    rows()[0]?.querySelector<HTMLElement>(".part-open")?.click();
    rows()[0]?.querySelector<HTMLElement>(".part-pin")?.click();
    rows()[1]?.querySelector<HTMLElement>(".part-pin")?.click();
    rows()[0]?.querySelector<HTMLElement>(".part-exclude")?.click();
    await settle();
    assert.deepEqual(done, [
      "showItem t1",
      'ullage/session/pin {"itemId":"t1","pinned":true}',
      'ullage/session/pin {"path":"a.py","pinned":false}',
      'ullage/session/exclude {"itemId":"t1"}',
    ]);
  });

  test("clears a result, and says what that frees and costs", async () => {
    const result = part({ clearFrees: 4_900, clearCost: 0.09 });
    const warm = await opened([result, part({ itemId: "t2" })], { cache: { ...CLOCK, startedAt: Date.now() / 1000 } });
    const clear = warm.rows()[0]?.querySelector<HTMLElement>(".part-clear");
    assert.match(clear?.getAttribute("aria-label") ?? "", /frees about 4\.9k, and the next prompt costs about \$0\.09 more/);
    assert.equal(warm.rows()[1]?.querySelector(".part-clear"), null, "there is nothing to clear");
    clear?.click();
    await settle();
    assert.deepEqual(warm.done, ['ullage/session/clearResult {"itemId":"t1"}']);
    const cold = await opened([result]);
    assert.match(cold.rows()[0]?.querySelector(".part-clear")?.getAttribute("aria-label") ?? "", /frees about 4\.9k\. The agent/);
  });

  test("offers nothing in a log that can only be read", async () => {
    for (const session of [{ foreign: true }, { agentOf: "s1" }]) {
      const { rows, place } = await opened([part({ clearFrees: 4_900 })], {}, session);
      assert.equal(rows()[0]?.querySelectorAll(".part-pin, .part-exclude, .part-clear").length, 0);
      assert.equal(place.element.querySelector<HTMLElement>(".sheet-foot")?.hidden, true);
    }
  });

  test("offers nothing where nothing can be done", () => {
    for (const kind of ["system", "tool", "summary", "rest"] as const) {
      assert.equal(targetOf(part({ kind })), undefined);
    }
    assert.equal(targetOf(part({ kind: "file", paths: ["text:problems"] })), undefined);
  });

  test("is filtered by kind and in order, by the server", async () => {
    const { place, asked } = await opened([part(), part({ kind: "reply" })]);
    place.element.querySelector<HTMLElement>('[data-kind="reply"]')?.click();
    await settle();
    const order = place.element.querySelector<HTMLSelectElement>("select");
    assert.ok(order);
    order.value = "newest";
    order.dispatchEvent(new window.Event("change"));
    await settle();
    assert.deepEqual(asked.at(-1), { ofKind: "reply", order: "newest", limit: 200, draft: "And the pump?" });
    assert.equal(place.element.querySelector('[data-kind="reply"]')?.getAttribute("aria-pressed"), "true");
  });

  test("says why it could not be read, and closes with another session", async () => {
    const { actions } = recordingActions();
    actions.ask = () => Promise.reject(new Error("The server does not answer"));
    const place = newSheet();
    const state = reduce(INITIAL_STATE, { type: "snapshot", snapshot: snapshot() });
    const shown = new ContextSheet(actions, place, () => "");
    shown.open(state.session);
    await settle();
    assert.match(place.element.querySelector('[role="status"]')?.textContent ?? "", /does not answer/);
    const other = reduce(state, { type: "snapshot", snapshot: { ...snapshot(), sessionId: "other" } }).session;
    assert.ok(other);
    shown.update(other);
    assert.equal(place.shows, undefined);
  });
});

test("requests that missed the cache are listed with what had changed", async () => {
  const misses = [
    { at: 900, tokens: 61_000, cost: 0.29, idle: 12, reasons: ["rules" as const], itemId: "r1.0", change: "-Be brief.\n+Be exact." },
  ];
  const { place, done } = await opened([part()], { missed: 3, misses });
  const list = place.element.querySelector(".cache-misses");
  list?.querySelector("summary")?.click();
  await new Promise((unfolded) => list?.addEventListener("toggle", unfolded, { once: true }));
  assert.match(list?.textContent ?? "", /3 of 40 requests missed the cache.*61k sent anew, \$0\.29 more.*the rules changed.*2 older ones/s);
  assert.deepEqual(
    [...place.element.querySelectorAll(".miss-change > div")].map((line) => line.className),
    ["removed", "added"],
  );
  list?.querySelector<HTMLElement>(".miss button")?.click();
  assert.deepEqual(done, ["showItem r1.0"]);
});
