/**
 * A model's Markdown as a tree of blocks, and the file that a code block says it is of. What stands inside of a paragraph or a cell is read later,
 * when it is drawn. Pure.
 */

import MarkdownIt, { type Env, type Token } from "markdown-it";
import { keepFormulas, linkTarget, withPlainLinks } from "./inline";

/** HTML is text: there is no element that a model could write by itself. */
const parser = new MarkdownIt({ html: false, linkify: false, breaks: false });
parser.validateLink = (href) => linkTarget(href).kind !== "none";
keepFormulas(parser);

export interface Block {
  /** The type of its first token without `_open`: `paragraph`, `fence`, `bullet_list` … */
  type: string;
  tag: string;
  /** Source of a paragraph, a heading or a cell; text of a code block. Empty for what holds other blocks. */
  content: string;
  /** The language of a code block. */
  language: string;
  /** The file that a code block says it is of, as it writes it. */
  path?: string | undefined;
  /** The first number of a list. */
  start: number | undefined;
  /** Of a cell. */
  align: string | undefined;
  /** A paragraph that stands close to its neighbours, in a list without empty lines. */
  tight: boolean;
  /** Text that comes can no longer change it: a code block has its last line. */
  closed: boolean;
  children: Block[];
  /** Its first line in the source, from 0. */
  line: number;
}

/** What holds text, and not blocks. */
const TEXT = new Set(["paragraph", "heading", "th", "td"]);

/** The blocks of a source. `env` collects the addresses that are defined at other places of it (`[name]: address`). */
export function blocksOf(source: string, env: Env): Block[] {
  const tokens: Token[] = [];
  parser.block.parse(source, parser, env, tokens);
  const top: Block[] = [];
  const open: Block[] = [];
  for (const token of tokens) {
    if (token.nesting < 0) {
      open.pop();
    } else if (token.type === "inline") {
      const holder = open.at(-1);
      if (holder !== undefined) {
        holder.content = isFirstOfItem(holder, open.at(-2)) ? withBox(token.content) : token.content;
      }
    } else {
      const block = blockOf(token);
      (open.at(-1)?.children ?? top).push(block);
      if (token.nesting > 0) {
        open.push(block);
      }
    }
  }
  return top;
}

/** The tokens of a text inside of a block. */
export function textOf(content: string, env: Env): Token[] {
  const tokens: Token[] = [];
  parser.inline.parse(content, parser, env, tokens);
  return withPlainLinks(tokens);
}

function isFirstOfItem(holder: Block, parent: Block | undefined): boolean {
  return parent?.type === "list_item" && parent.children[0] === holder;
}

/** A task's mark, `[ ]` or `[x]`, as a box. */
function withBox(content: string): string {
  return content.replace(/^\[([ xX])\](?=\s)/, (_, mark) => (mark === " " ? "☐" : "☑"));
}

/** Whether a block holds text that `textOf` reads. */
export function holdsText(block: Block): boolean {
  return TEXT.has(block.type);
}

function blockOf(token: Token): Block {
  const type = token.type.replace(/_open$/, "");
  const isCode = type === "fence" || type === "code_block";
  return {
    type,
    tag: token.tag,
    content: isCode ? token.content : "",
    language: type === "fence" ? (/^[\w+#.-]*/.exec(token.info.trim())?.[0] ?? "") : "",
    path: type === "fence" ? namedPath(token.info, token.content) : undefined,
    start: numberOr(token.attrGet("start")),
    align: /text-align:(left|center|right)/.exec(String(token.attrGet("style") ?? ""))?.[1],
    tight: token.hidden,
    closed: type === "fence" && hasLastLine(token),
    children: [],
    line: token.map?.[0] ?? 0,
  };
}

function numberOr(value: string | number | null): number | undefined {
  const number = Number(value ?? Number.NaN);
  return Number.isInteger(number) ? number : undefined;
}

/** A fenced block spans its content, the line before it and, once that is there, the line after it. */
function hasLastLine({ map, content }: Token): boolean {
  let lines = content === "" || content.endsWith("\n") ? 0 : 1;
  for (let at = content.indexOf("\n"); at >= 0; at = content.indexOf("\n", at + 1)) {
    lines += 1;
  }
  return map !== null && map[1] - map[0] === lines + 2;
}

/** A path: a name with an ending, perhaps in folders. */
const PATH = /^(?:[\w@.~-]+[/\\])*[\w@.-]*\w\.[A-Za-z][\w-]{0,9}$/;

/** What may stand before a path after the language: `python title="a.py"`, `python:a.py`. */
const KEY = /^(?:path|file|filename|name|title)=/i;

/** The comments of the languages that are usual. */
const COMMENT = /^\s*(?:#|\/\/|--|;|%|\/\*|<!--)\s*(?:file(?:name)?:\s*)?(\S+?)\s*(?:\*\/|-->)?\s*$/i;

/** The path as it is written; undefined if none is named. `info` is what stands after the fence. */
export function namedPath(info: string, content: string): string | undefined {
  const [language = "", ...rest] = info.trim().split(/\s+/);
  const colon = language.indexOf(":");
  const words = [...rest, colon > 0 ? language.slice(colon + 1) : language];
  const named = words.map((word) => word.replace(KEY, "").replace(/^["'{[]+|["'}\]]+$/g, "")).find((word) => PATH.test(word));
  const commented = COMMENT.exec(content.slice(0, content.indexOf("\n") + 1 || undefined).trimEnd())?.[1];
  return named ?? (commented !== undefined && PATH.test(commented) ? commented : undefined);
}
