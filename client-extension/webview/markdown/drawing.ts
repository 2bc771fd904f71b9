/**
 * Blocks as DOM. A tree that grew is drawn into the elements of the one before: what is the same keeps its nodes, and only what is new or
 * has changed is touched, mostly the last paragraph, row or line.
 */

import type { Env } from "markdown-it";
import { holdsText, type Block } from "./blocks";
import { CodeBlock } from "./codeBlock";
import { GrowingText } from "./growingText";
import type { MarkdownHost } from "./text";

/** What every block is drawn with. */
export interface Surroundings {
  host: MarkdownHost;
  /** Addresses that are defined at other places of the text. */
  env: Env;
}

/** A block that stands in the page. */
export interface DrawnBlock {
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
export function drawBlocks(place: HTMLElement, drawn: DrawnBlock[], blocks: readonly Block[], around: Surroundings): void {
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
