/**
 * A model's Markdown as DOM. HTML in it is shown as text; what is rendered goes through DOMPurify with a short list of elements;
 * links carry no address that the page could follow by itself, they are opened by the host.
 */

import DOMPurify from "dompurify";
import MarkdownIt from "markdown-it";
import { icon, iconButton } from "./dom";
import { highlight } from "./highlight";
import { linkTarget } from "./links";

const ALLOWED_TAGS = [
  ...[
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "s",
    "span",
    "strong",
  ],
  ...["table", "tbody", "td", "th", "thead", "tr", "ul"],
];
const ALLOWED_ATTR = ["class", "href", "start", "title"];

/** Milliseconds for which a copy button says that it has copied. */
const COPIED_SHOWN = 1500;

const parser = new MarkdownIt({
  html: false,
  linkify: false,
  breaks: false,
  highlight: (code, language) => highlight(code, language) ?? "",
});
parser.validateLink = (href) => linkTarget(href).kind !== "none";
parser.renderer.rules.image = (tokens, index) => parser.utils.escapeHtml(tokens[index]?.content ?? "");
for (const cell of ["th_open", "td_open"]) {
  parser.renderer.rules[cell] = (tokens, index, options, _env, renderer) => {
    const token = tokens[index];
    const alignment = /text-align:(left|center|right)/.exec(String(token?.attrGet("style") ?? ""))?.[1];
    if (token !== undefined) {
      token.attrs = alignment === undefined ? null : [["class", `align-${alignment}`]];
    }
    return renderer.renderToken(tokens, index, options);
  };
}

export interface MarkdownHost {
  openLink: (href: string) => void;
  openFile: (path: string, line?: number) => void;
  copy: (text: string) => void;
}

/**
 * Shows a text that grows. Only the last block (paragraph, list, code block …) can still change when more text comes: the ones before it
 * are rendered once and never touched again, so that a long reply costs no more per chunk than a short one.
 */
export class MarkdownView {
  readonly element = document.createElement("div");
  /** Reference definitions so far; markdown-it keeps them here. */
  private env: Record<string, unknown> = {};
  private text = "";
  /** Characters of `text` whose blocks are rendered for good. */
  private settled = 0;
  /** What stands for the text after them. */
  private tail: Node[] = [];

  constructor(private readonly host: MarkdownHost) {
    this.element.className = "markdown";
  }

  /** Shows `text`. Cheap where it only grew. */
  update(text: string): void {
    if (text === this.text) {
      return;
    }
    if (!text.startsWith(this.text)) {
      this.element.replaceChildren();
      this.env = {};
      this.settled = 0;
      this.tail = [];
    }
    this.text = text;
    for (const node of this.tail) {
      this.element.removeChild(node);
    }
    const { blocks, lastStart } = splitBlocks(text.slice(this.settled), this.env);
    const rendered = blocks.map((html) => [...toFragment(html, this.host).childNodes]);
    this.element.append(...rendered.flat());
    this.tail = rendered.at(-1) ?? [];
    this.settled += lastStart;
  }
}

/** The HTML of each top-level block, not yet sanitised, and where the source of the last one begins (characters). */
function splitBlocks(source: string, env: Record<string, unknown>): { blocks: string[]; lastStart: number } {
  const tokens = parser.parse(source, env);
  const starts = tokens.flatMap((token, index) => (token.level === 0 && token.nesting >= 0 ? [index] : []));
  const blocks = starts.map((start, index) => parser.renderer.render(tokens.slice(start, starts[index + 1]), parser.options, env));
  const lastLine = tokens[starts.at(-1) ?? 0]?.map?.[0] ?? 0;
  return { blocks, lastStart: offsetOfLine(source, lastLine) };
}

function offsetOfLine(source: string, line: number): number {
  let offset = 0;
  for (let passed = 0; passed < line; passed += 1) {
    offset = source.indexOf("\n", offset) + 1;
  }
  return offset;
}

function toFragment(html: string, host: MarkdownHost): DocumentFragment {
  const fragment = purify(html);
  fragment.querySelectorAll("a").forEach((anchor) => bindLink(anchor, host));
  fragment.querySelectorAll("pre").forEach((block) => addCopyButton(block, host));
  return fragment;
}

let purifier: typeof DOMPurify | undefined;

/** Made at first use, when there is a page. */
function purify(html: string): DocumentFragment {
  purifier ??= DOMPurify(window);
  return purifier.sanitize(html, { ALLOWED_TAGS, ALLOWED_ATTR, ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false, RETURN_DOM_FRAGMENT: true });
}

function bindLink(anchor: HTMLAnchorElement, host: MarkdownHost): void {
  const target = linkTarget(anchor.getAttribute("href") ?? "");
  if (target.kind === "none") {
    anchor.replaceWith(...anchor.childNodes);
    return;
  }
  anchor.setAttribute("href", target.kind === "web" ? target.href : "#");
  anchor.title = target.kind === "web" ? target.href : `Open ${target.path}`;
  anchor.addEventListener("click", (event) => {
    event.preventDefault();
    event.stopPropagation();
    if (target.kind === "web") {
      host.openLink(target.href);
    } else {
      host.openFile(target.path, target.line);
    }
  });
}

function addCopyButton(block: HTMLPreElement, host: MarkdownHost): void {
  const wrapper = document.createElement("div");
  wrapper.className = "code-block";
  block.replaceWith(wrapper);
  block.tabIndex = 0;
  const copy = iconButton({
    label: "Copy code",
    icon: "copy",
    className: "code-copy",
    onClick: () => {
      host.copy((block.textContent ?? "").replace(/\n$/, ""));
      copy.replaceChildren(icon("check"));
      setTimeout(() => copy.replaceChildren(icon("copy")), COPIED_SHOWN);
    },
  });
  wrapper.append(block, copy);
}
