/**
 * A model's Markdown as DOM that grows with its text. `blocks.ts` reads it; here it is drawn.
 *
 * Only the last block (paragraph, list, code block …) can still change when more text comes. The ones before it are read and drawn once, so
 * that a long reply costs no more per piece than a short one. A tree that grew is drawn into the elements of the one before: what is the same keeps
 * its nodes, and only what is new or has changed is touched, mostly the last paragraph, row or line.
 *
 * The text of one block grows in the same way (`GrowingText`). A long text is cut where nothing that is still to come can change what stands
 * before: that part is read and drawn once. So a paragraph costs as much per piece as what is new of it, however long it is.
 */

import type { Env, Token } from "markdown-it";
import { type Block, blocksOf, holdsText, textOf } from "./blocks";
import { CodeBlock } from "./codeBlock";
import { type MarkdownHost, drawText } from "./text";

export class MarkdownView {
  readonly element = document.createElement("div");
  /** Addresses that were defined so far; markdown-it keeps them here. */
  private env: Env = {};
  private text = "";
  /** Characters of `text` whose blocks are drawn for good. */
  private settled = 0;
  /** The block after them. */
  private last: DrawnBlock[] = [];

  constructor(private readonly host: MarkdownHost) {
    this.element.className = "markdown";
  }

  /** Shows `text`. Cheap where it only grew. */
  update(given: string): void {
    const text = given.includes("\r") ? given.replace(/\r\n?/g, "\n") : given;
    if (text === this.text) {
      return;
    }
    if (!text.startsWith(this.text)) {
      this.element.replaceChildren();
      this.env = {};
      this.settled = 0;
      this.last = [];
    }
    this.text = text;
    const source = text.slice(this.settled);
    const blocks = blocksOf(source, this.env);
    drawBlocks(this.element, this.last, blocks, { host: this.host, env: this.env });
    this.last = this.last.slice(-1);
    this.settled += offsetOfLine(source, blocks.at(-1)?.line ?? 0);
  }
}

function offsetOfLine(source: string, line: number): number {
  let offset = 0;
  for (let passed = 0; passed < line; passed += 1) {
    offset = source.indexOf("\n", offset) + 1;
  }
  return offset;
}

/** What every block is drawn with. */
interface Surroundings {
  host: MarkdownHost;
  /** Addresses that are defined at other places of the text. */
  env: Env;
}

/** A block that stands in the page. */
interface DrawnBlock {
  block: Block;
  element: HTMLElement;
  children: DrawnBlock[];
  code: CodeBlock | undefined;
  text: GrowingText | undefined;
}

/** Elements of blocks that hold others. Anything else is drawn as a `div`. */
const ELEMENTS: ReadonlySet<string> = new Set(
  ["blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "table", "tbody", "td", "th", "thead", "tr", "ul"], // what Markdown has
);

/** Makes `drawn`, which stands in `place` after its first `before` children, what `blocks` says. */
function drawBlocks(place: HTMLElement, drawn: DrawnBlock[], blocks: readonly Block[], around: Surroundings): void {
  for (const gone of drawn.splice(blocks.length)) {
    gone.element.remove();
  }
  blocks.forEach((block, index) => {
    const known = drawn[index];
    if (known !== undefined && isSameKind(known.block, block)) {
      change(known, block, around);
      return;
    }
    const made = make(block, around);
    drawn[index] = made;
    if (known === undefined) {
      place.append(made.element);
    } else {
      known.element.replaceWith(made.element);
    }
  });
}

function isSameKind(known: Block, block: Block): boolean {
  return known.type === block.type && known.tag === block.tag && known.language === block.language;
}

function make(block: Block, around: Surroundings): DrawnBlock {
  const isCode = block.type === "fence" || block.type === "code_block";
  const code = isCode ? new CodeBlock(block.language, around.host) : undefined;
  const element = code?.element ?? document.createElement(ELEMENTS.has(block.tag) ? block.tag : "div");
  const text = holdsText(block) ? new GrowingText(element, around.host) : undefined;
  const drawn: DrawnBlock = { block, element, children: [], code, text };
  if (text !== undefined || block.tag === "li") {
    element.dir = "auto"; // a paragraph in Arabic or Hebrew is read from the right
  }
  if (block.tag === "table") {
    element.tabIndex = 0; // a wide one scrolls by itself, so the keyboard has to get there
  }
  if (block.start !== undefined) {
    element.setAttribute("start", String(block.start));
  }
  if (code === undefined) {
    setClass(element, block);
  }
  code?.update(block);
  text?.update(block.content, around.env);
  drawBlocks(element, drawn.children, block.children, around);
  return drawn;
}

function change(drawn: DrawnBlock, block: Block, around: Surroundings): void {
  const { block: known, element } = drawn;
  drawn.block = block;
  if (known.tight !== block.tight || known.align !== block.align) {
    setClass(element, block);
  }
  drawn.code?.update(block);
  if (known.content !== block.content) {
    drawn.text?.update(block.content, around.env);
  }
  drawBlocks(element, drawn.children, block.children, around);
}

function setClass(element: HTMLElement, { align, tight }: Block): void {
  const name = tight ? "tight" : align === undefined ? "" : `align-${align}`;
  if (name !== "") {
    element.className = name;
  } else if (element.hasAttribute("class")) {
    element.removeAttribute("class");
  }
}

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

/** Behind the last single space that is followed by enough, and 0 if there is none: words and links have no space in them. */
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
