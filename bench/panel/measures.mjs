/** What is measured at the panel: content that streams in, and a long conversation that is scrolled. Each gives figures, and judges nothing. */

import { AT } from "../../tests/extension/preview/items.mjs";
import { session } from "../../tests/extension/preview/session.mjs";
import { BESIDE, MARK, turnsOf } from "./contents.mjs";
import { withWork } from "./work.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** Four characters a token, 140 pieces a second, a thousand tokens a second. */
const PIECE = Math.round((1000 * 4) / 140);

/** Items that a snapshot has; older ones are asked for. */
const AT_FIRST = 200;

/** Milliseconds between two keys of somebody who types fast. */
const KEY_EVERY = 120;

const SELECTORS = { assistant: ".assistant", thinking: ".thinking", output: ".tool-output", input: ".tool-input" };

/**
 * Opens the panel on a session.
 *
 * @param {Page} page
 * @param {string} url
 * @param {object} snapshot
 * @param {{all?: any[], turns?: any[]}} [held] what the panel may ask for besides
 */
export async function openPanel(page, url, snapshot, held = {}) {
  await page.goto(url);
  await page.waitForFunction(() => probe.page()?.querySelector(".panel") !== null);
  await page.evaluate((more) => void Object.assign(probe, more), held);
  await page.evaluate((fields) => {
    probe.send({ type: "server", status: { state: "running" } });
    probe.send({ type: "snapshot", snapshot: fields });
  }, snapshot);
  await page.waitForFunction(() => probe.page().querySelector("button.model-button")?.textContent !== "");
}

/**
 * @typedef {object} Streamed
 * @property {number} lag milliseconds from the last piece to its frame
 * @property {number[]} frames milliseconds of each frame meanwhile
 * @property {number[]} keys milliseconds from each key to its frame
 * @property {number} nodes
 * @property {import("./work.mjs").Worked} worked
 */

/**
 * Lets a content stream in while somebody types.
 *
 * @param {Page} page
 * @param {string} url
 * @param {import("./contents.mjs").Content} content
 * @param {any[]} [before] the conversation that it is the answer in
 * @returns {Promise<Streamed>}
 */
export async function streamed(page, url, { into, text }, before = []) {
  const isTool = into === "output" || into === "input";
  const call = {
    kind: "toolCall",
    id: "x",
    at: AT,
    name: "bash",
    title: "$ pytest",
    toolKind: "execute",
    input: "",
    output: "",
    status: "running",
  };
  const item = isTool ? call : { kind: into, id: "x", at: AT, text: "" };
  const snapshot = {
    ...session,
    ...(before.length > 0 ? BESIDE : {}),
    state: "running",
    earlier: Math.max(0, before.length - AT_FIRST),
    items: [...before.slice(-AT_FIRST), { kind: "user", id: "p", at: AT, text: "Go on", attachments: [], queued: false }, item],
  };
  await openPanel(page, url, snapshot, { all: before, turns: turnsOf(before) });
  if (into === "thinking") await page.frameLocator("iframe").locator(".thinking summary").click();
  const pieces = text.match(new RegExp(`[^]{1,${PIECE}}`, "g")) ?? [];
  await page.locator("textarea").focus();
  const what = {
    sessionId: session.sessionId,
    itemId: "x",
    field: isTool ? into : "text",
    pieces,
    seq: session.seq + 1,
    shown: SELECTORS[into],
    mark: MARK,
  };
  const [measured, worked] = await withWork(page, async () => {
    await page.evaluate(() => probe.watch());
    let over = false;
    const drawn = page.evaluate((all) => probe.stream(all), what).finally(() => (over = true));
    while (!over) {
      await page.keyboard.press("a", { delay: 0 });
      await page.waitForTimeout(KEY_EVERY);
    }
    const lag = await drawn;
    return { lag, ...(await page.evaluate(() => probe.stopWatching())) };
  });
  return { ...measured, worked };
}

/** Keys while nothing happens. @param {Page} page @param {string} url @returns {Promise<number[]>} */
export async function idleKeys(page, url) {
  await openPanel(page, url, session);
  await page.locator("textarea").focus();
  await page.evaluate(() => probe.watch());
  for (let pressed = 0; pressed < 60; pressed += 1) {
    await page.keyboard.press("a");
    await page.waitForTimeout(KEY_EVERY);
  }
  return (await page.evaluate(() => probe.stopWatching())).keys;
}

/**
 * @typedef {object} Scrolled
 * @property {number} opened milliseconds until a long conversation was drawn
 * @property {number[]} frames
 * @property {import("./work.mjs").Worked} wheel while it was scrolled as by a wheel
 * @property {import("./work.mjs").Worked} dragged while it was scrolled as by its bar
 * @property {number} nodesAtFirst
 * @property {number} nodesMost
 * @property {number} nodes when all was scrolled through
 * @property {number} heap bytes then, after a collection
 * @property {number} passed items that were scrolled through
 * @property {number} found milliseconds until an item of long ago was shown
 */

/** Pixels a frame: a wheel that is turned fast (7,200 a second), and the bar that is dragged (36,000 a second). */
const WHEEL = 120;
const DRAGGED = 600;

/** In the page: scrolls back by so many pixels a frame. @param {{seconds: number, pixels: number}} how */
async function scrollBack({ seconds, pixels }) {
  const timeline = probe.page().querySelector(".timeline");
  const until = performance.now() + seconds * 1000;
  let most = 0;
  while (performance.now() < until) {
    timeline.scrollBy(0, -pixels);
    most = Math.max(most, probe.nodes());
    await new Promise((done) => probe.panel().requestAnimationFrame(done));
  }
  return { nodesMost: most, oldest: probe.page().querySelector("[data-item-id]").dataset.itemId };
}

/** Scrolls back through a long conversation for so many seconds in each of two ways, then looks up an item of long ago. @param {Page} page @param {string} url @param {any[]} items @param {number} seconds @returns {Promise<Scrolled>} */
export async function scrolled(page, url, items, seconds) {
  const newest = items.slice(-AT_FIRST);
  const snapshot = { ...session, ...BESIDE, items: newest, earlier: items.length - newest.length };
  await openPanel(page, url, session);
  const opened = await page.evaluate(
    ({ all, turns, fields }) => {
      Object.assign(probe, { all, turns });
      const since = performance.now();
      probe.send({ type: "snapshot", snapshot: { ...fields, sessionId: "long" } });
      return new Promise((done) => {
        const last = fields.items.at(-1).id;
        const look = () =>
          probe.page().querySelector(`[data-item-id="${last}"]`) === null
            ? setTimeout(look)
            : requestAnimationFrame(() => setTimeout(() => done(performance.now() - since)));
        look();
      });
    },
    { all: items, turns: turnsOf(items), fields: snapshot },
  );
  await page.waitForTimeout(500);
  const nodesAtFirst = await page.evaluate(() => probe.nodes());
  const [, wheel] = await withWork(page, () => page.evaluate(scrollBack, { seconds, pixels: WHEEL }));
  await page.evaluate(() => probe.watch());
  const [{ nodesMost, oldest }, dragged] = await withWork(page, () => page.evaluate(scrollBack, { seconds, pixels: DRAGGED }));
  const { frames, nodes } = await page.evaluate(() => probe.stopWatching());
  const passed = items.length - items.findIndex(({ id }) => id === oldest);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("HeapProfiler.collectGarbage");
  const { usedSize: heap } = await cdp.send("Runtime.getHeapUsage");
  await openPanel(page, url, session);
  const found = await page.evaluate(
    ({ all, turns, fields, itemId }) => {
      Object.assign(probe, { all, turns });
      probe.send({ type: "snapshot", snapshot: { ...fields, sessionId: "long" } });
      return new Promise((done) => setTimeout(done, 500)).then(() => {
        const since = performance.now();
        probe.send({ type: "show", view: { kind: "item", sessionId: "long", itemId } });
        return new Promise((done) => {
          const look = () => {
            const box = probe.page().querySelector(`[data-item-id="${itemId}"]`)?.getBoundingClientRect();
            if (box && box.top >= 0 && box.top < 800) requestAnimationFrame(() => setTimeout(() => done(performance.now() - since)));
            else setTimeout(look, 5);
          };
          look();
        });
      });
    },
    { all: items, turns: turnsOf(items), fields: snapshot, itemId: items[Math.floor(items.length / 10) + 1].id },
  );
  return { opened, frames, wheel, dragged, nodesAtFirst, nodesMost, nodes, heap, passed, found };
}
