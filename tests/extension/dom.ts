/** A page for tests of the panel's parts. */

import { JSDOM } from "jsdom";

const { window } = new JSDOM("<!DOCTYPE html><body></body>");

const observers = new Set<() => void>();

/** jsdom lays nothing out, so nothing changes its size unless a test says so. */
class ResizeObserver {
  constructor(private readonly changed: () => void) {}

  observe(): void {
    observers.add(this.changed);
  }
}

/** What is observed has another size. */
export function resized(): void {
  observers.forEach((changed) => changed());
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
