/**
 * How long the page's main thread works at a stretch. Frames come late where others take the cores; this does not: it is counted in CPU time of
 * that thread. No frame is dropped by a panel whose tasks are all shorter than a frame.
 */

/** Milliseconds of a frame where a screen shows 60 a second. */
export const FRAME = 1000 / 60;

/**
 * @typedef {object} Worked
 * @property {number} longest CPU milliseconds of the longest task
 * @property {number} over how many tasks took more than a frame
 * @property {number} tasks how many there were
 */

/** @typedef {{ph: string, name: string, pid: number, tid: number, tdur?: number, args: {name?: string}}} TraceEvent */

/**
 * Does something in a page, and gives beside its result what the page's main thread did meanwhile.
 *
 * @template T
 * @param {import("playwright-core").Page} page
 * @param {() => Promise<T>} action
 * @returns {Promise<[T, Worked]>}
 */
export async function withWork(page, action) {
  const browser = page.context().browser();
  if (!browser) throw new Error("The page has no browser that could be traced");
  await browser.startTracing(page, { categories: ["toplevel"] });
  const result = await action();
  /** @type {{traceEvents: TraceEvent[]}} */
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const threads = new Set(traceEvents.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain").map(threadOf));
  /** @type {Map<string, number[]>} */
  const worked = new Map([...threads].map((thread) => [thread, []]));
  for (const event of traceEvents) {
    // The browser writes each task twice, under this name and a shorter one.
    if (event.ph === "X" && event.name === "ThreadControllerImpl::RunTask") worked.get(threadOf(event))?.push((event.tdur ?? 0) / 1000);
  }
  // A page that was closed or is kept ready has a main thread, too; it does next to nothing.
  const [busiest = []] = [...worked.values()].toSorted((a, b) => sum(b) - sum(a));
  return [result, { longest: Math.max(0, ...busiest), over: busiest.filter((took) => took > FRAME).length, tasks: busiest.length }];
}

/** @param {TraceEvent} event */
function threadOf({ pid, tid }) {
  return `${pid}.${tid}`;
}

/** @param {number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
