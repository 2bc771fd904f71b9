/** Work that can wait until the page has nothing else to do. */

/** Milliseconds after which it is done in any case. */
const AT_THE_LATEST = 2000;

const waiting: (() => void)[] = [];

/** Does it later, one piece of work after the other. */
export function whenIdle(work: () => void): void {
  waiting.push(work);
  if (waiting.length === 1) {
    next();
  }
}

function next(): void {
  if (typeof requestIdleCallback === "function") {
    requestIdleCallback(doOne, { timeout: AT_THE_LATEST });
  } else {
    setTimeout(doOne);
  }
}

function doOne(): void {
  waiting[0]?.();
  waiting.shift();
  if (waiting.length > 0) {
    next();
  }
}
