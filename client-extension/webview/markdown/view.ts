/**
 * A model's Markdown as DOM that grows with its text. `blocks.ts` reads it; here it is drawn.
 *
 * Only the last block (paragraph, list, code block …) can still change when more text comes. The ones before it are read and drawn once, so
 * that a long reply costs no more per piece than a short one. A tree that grew is drawn into the elements of the one before: what is the same keeps
 * its nodes, and only what is new or has changed is touched, mostly the last paragraph, row or line.
 */

import type { Env } from "markdown-it";
import { type Block, blocksOf, holdsText } from "./blocks";
import { CodeBlock } from "./codeBlock";
import { GrowingText } from "./growingText";
import type { MarkdownHost } from "./text";

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
