/**
 * A model's Markdown as DOM that grows with its text. `markdown/blocks.ts` reads it, `markdown/drawing.ts` draws it.
 *
 * Only the last block (paragraph, list, code block …) can still change when more text comes. The ones before it are read and drawn once, so
 * that a long reply costs no more per piece than a short one; of the last one only what changed is drawn.
 */

import type { Env } from "markdown-it";
import { blocksOf } from "./markdown/blocks";
import { drawBlocks, type DrawnBlock } from "./markdown/drawing";
import type { MarkdownHost } from "./markdown/text";

export type { MarkdownHost } from "./markdown/text";

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
