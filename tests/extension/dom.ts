/** A page for tests of the panel's parts. */

import { JSDOM } from "jsdom";

const { window } = new JSDOM("<!DOCTYPE html><body></body>");

/** jsdom lays nothing out, so nothing changes its size. */
class ResizeObserver {
  observe(): void {}
}

const requestAnimationFrame = (draw: () => void) => setImmediate(draw);

Object.assign(globalThis, {
  window,
  document: window.document,
  Node: window.Node,
  HTMLElement: window.HTMLElement,
  Element: window.Element,
  ResizeObserver,
  requestAnimationFrame,
});

window.Element.prototype.scrollIntoView = () => undefined;

/** Lets everything happen that waits for a promise. */
export function settle(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}

/** Gives an element the measures that a browser would have found. */
export function layOut(element: HTMLElement, measures: { scrollHeight: number; clientHeight: number; scrollTop: number }): void {
  for (const [name, value] of Object.entries(measures)) {
    Object.defineProperty(element, name, { configurable: true, writable: true, value });
  }
}
