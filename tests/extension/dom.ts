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

  disconnect(): void {
    observers.delete(this.changed);
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
  HTMLInputElement: window.HTMLInputElement,
  Element: window.Element,
  ResizeObserver,
  requestAnimationFrame,
});

window.Element.prototype.scrollIntoView = () => undefined;

/** Lays the children of a column out below one another: each is as high as its style says, else as high as usual. */
export function layOutColumn(column: Element, usual: number): void {
  const heightOf = (child: Element) =>
    child instanceof window.HTMLElement && child.style.height ? Number.parseFloat(child.style.height) : usual;
  const of = (element: Element, height: (element: Element) => number) => (element.parentElement === column ? height(element) : 0);
  const topOf = (child: Element): number => (child.previousElementSibling === null ? 0 : bottomOf(child.previousElementSibling));
  const bottomOf = (child: Element): number => topOf(child) + heightOf(child);
  Object.defineProperties(window.HTMLElement.prototype, {
    offsetTop: { configurable: true, get: function (this: Element) { return of(this, topOf); } }, // prettier-ignore
    offsetHeight: { configurable: true, get: function (this: Element) { return of(this, heightOf); } }, // prettier-ignore
  });
}

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
