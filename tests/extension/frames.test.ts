/** How often the panel is drawn. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, Frames } from "../../client-extension/webview/frames";

/** A page whose frames come every 16 ms, and a drawing that takes so long, as long as pieces come in every 7 ms. */
function drawnAt(takes: number, until: number): number[] {
  let now = 0;
  const due: { at: number; work: () => void }[] = [];
  const clock: Clock = {
    now: () => now,
    inFrame: (work) => due.push({ at: (Math.floor(now / 16) + 1) * 16, work }),
    after: (milliseconds, work) => due.push({ at: now + milliseconds, work }),
  };
  const times: number[] = [];
  const frames = new Frames(() => {
    times.push(now);
    now += takes;
  }, clock);
  for (let piece = 0; piece < until; piece += 7) {
    due.push({ at: piece, work: () => frames.want() });
  }
  while (due.length > 0) {
    due.sort((a, b) => a.at - b.at);
    const next = due.shift();
    now = Math.max(now, next?.at ?? 0);
    next?.work();
  }
  return times;
}

for (const [takes, most, least] of [
  [1, 63, 55],
  [20, 17, 12],
  [100, 10, 7],
] as const) {
  test(`a drawing that takes ${takes} ms comes as often as it may`, () => {
    const times = drawnAt(takes, 1000);
    assert.ok(times.length <= most && times.length >= least, `${times.length} frames`);
  });
}

test("what came last is drawn soon", () => {
  for (const takes of [1, 10, 30]) {
    const last = drawnAt(takes, 1000).at(-1) ?? 0;
    assert.ok(last >= 994 && last <= 994 + 120 + 16, `at ${last}`);
  }
});

test("a drawing that fails does not keep the next from being made", () => {
  const due: (() => void)[] = [];
  const clock: Clock = { now: () => 0, inFrame: (work) => due.push(work), after: (_, work) => due.push(work) };
  let drawn = 0;
  const frames = new Frames(() => {
    drawn += 1;
    if (drawn === 1) throw new Error("once");
  }, clock);
  frames.want();
  assert.throws(() => due.shift()?.(), /once/);
  frames.want();
  while (due.length > 0) due.shift()?.();
  assert.equal(drawn, 2);
});

test("what is drawn ahead of its frame is seen once a frame was painted after it", () => {
  const due: (() => void)[] = [];
  const clock: Clock = { now: () => 0, inFrame: (work) => due.push(work), after: (_, work) => due.push(work) };
  const frames = new Frames(() => undefined, clock);
  const drawAhead = () => {
    frames.want();
    frames.catchUp();
  };
  assert.ok(frames.isSeen);
  drawAhead();
  const [, painted] = due.splice(0);
  assert.ok(!frames.isSeen);
  painted?.();
  drawAhead(); // after that was painted, and before the page hears of it
  due.shift()?.();
  assert.ok(!frames.isSeen, "the second one is not painted yet");
  while (due.length > 0) due.shift()?.();
  assert.ok(frames.isSeen);
});

test("what is drawn ahead of its frame is not drawn again in it, and what comes after it is", () => {
  const due: (() => void)[] = [];
  const clock: Clock = { now: () => 0, inFrame: (work) => due.push(work), after: (_, work) => due.push(work) };
  let drawn = 0;
  const frames = new Frames(() => (drawn += 1), clock);
  const all = () => {
    while (due.length > 0) due.shift()?.();
  };
  frames.catchUp();
  assert.equal(drawn, 0, "nothing waits");
  frames.want();
  frames.catchUp();
  assert.equal(drawn, 1);
  all();
  assert.equal(drawn, 1);
  frames.want();
  frames.catchUp();
  frames.want();
  all();
  assert.equal(drawn, 3);
});
