/**
 * The text of one block, such as a paragraph, as DOM that grows with it. A long text is cut where nothing that is still to come can change what
 * stands before: that part is read and drawn once. So a paragraph costs as much per piece as what is new of it, however long it is.
 */

import type { Env, Token } from "markdown-it";
import { textOf } from "./blocks";
import { drawText, type MarkdownHost } from "./text";

/** Characters that are read anew with each piece: about a millisecond. */
const LONG = 1500;

/** Characters over which nothing is waited for: a mark that is still without its end is no mark. */
const TOO_LONG = 8000;

/** Characters at the end that are left open in any case, and that have to come before a cut is looked for again where there was none. */
const OPEN = 200;

export class GrowingText {
  /** The beginning of the text, whose nodes stay. */
  private settled = "";
  /** The nodes of all after it. */
  private rest: ChildNode[] = [];
  /** Characters after it from which on a cut is looked for. */
  private cutFrom = LONG;

  /** @param place what holds the text and nothing else. */
  constructor(
    private readonly place: HTMLElement,
    private readonly host: MarkdownHost,
  ) {}

  /** Shows the text. `env` has the addresses that are defined at other places. */
  update(content: string, env: Env): void {
    if (!content.startsWith(this.settled)) {
      this.settled = "";
      this.cutFrom = LONG;
    }
    const isAnew = this.settled === "";
    const drawn: ChildNode[] = [];
    let open = content.slice(this.settled.length);
    if (open.length > this.cutFrom) {
      const begin = open.slice(0, lastCut(open));
      const tokens = textOf(begin, env);
      if (begin !== "" && (isClosed(tokens) || open.length > TOO_LONG)) {
        drawn.push(...drawText(tokens, this.host));
        this.settled += begin;
        open = open.slice(begin.length);
        this.cutFrom = LONG;
      } else {
        this.cutFrom = open.length + OPEN;
      }
    }
    const before = this.rest;
    this.rest = drawText(textOf(open, env), this.host);
    drawn.push(...this.rest);
    if (isAnew) {
      this.place.replaceChildren(...drawn);
    } else {
      before.forEach((node) => node.remove());
      this.place.append(...drawn);
    }
  }
}

/** Behind the last single space that is followed by enough, and 0 where there is none: words and links have no space in them. */
function lastCut(text: string): number {
  for (let at = text.lastIndexOf(" ", text.length - OPEN); at > 0; at = text.lastIndexOf(" ", at - 1)) {
    if (/^\S \S$/.test(text.slice(at - 1, at + 2))) {
      return at + 1;
    }
  }
  return 0;
}

/** What is no text, for those that look at the characters around a mark. */
const SOMETHING = "\uFFFC";

/** A `*` or `~~` before a word, and a `_` that is not inside of one: what comes may end it. */
const OPENS = /[*](?=[^\s*])|~~(?=[^\s~])|(?<![\p{L}\p{N}_])_+(?=[^\s_])/u;

/** Whether nothing in these tokens waits for an end: a mark, a bracket, a piece of code, a formula. In doubt it says no. */
function isClosed(tokens: readonly Token[]): boolean {
  let text = "";
  for (const { type, content } of tokens) {
    if (type === "text") {
      text += content;
    } else if (type === "text_special") {
      if (content === "(" || content === "[") {
        return false; // a formula may begin there: the backslash before it is gone
      }
      text += SOMETHING;
    } else {
      text += type === "softbreak" || type === "hardbreak" ? " " : SOMETHING;
    }
  }
  return !text.includes("`") && !text.includes("$$") && !OPENS.test(text) && bracketsAreClosed(text);
}

function bracketsAreClosed(text: string): boolean {
  let open = 0;
  for (const [bracket] of text.matchAll(/[[\]]/g)) {
    open = bracket === "[" ? open + 1 : Math.max(0, open - 1);
  }
  return open === 0;
}
