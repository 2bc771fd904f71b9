/**
 * Links in a model's text, and formulas. Where a link leads: anything that is not plainly a web address or a path leads nowhere. What the text of a
 * block has beside Markdown's own: formulas, whose backslashes mean themselves, and places and addresses, which are links although nobody marked
 * them. Pure.
 */

import MarkdownIt, { type Token } from "markdown-it";

export type LinkTarget = { kind: "web"; href: string } | { kind: "file"; path: string; line?: number } | { kind: "none" };

/** Web addresses are opened by the browser; paths by the editor, which refuses those outside of the workspace. */
export function linkTarget(href: string): LinkTarget {
  const address = href.trim();
  if (/^https?:\/\/[^\s]+$/i.test(address)) {
    return { kind: "web", href: address };
  }
  const path = pathOf(address);
  if (path === undefined) {
    return { kind: "none" };
  }
  const match = /^(.+?)(?:#L(\d+)(?:-L?\d+)?|:(\d+)(?::\d+)?)?$/.exec(path);
  const line = match?.[2] ?? match?.[3];
  return { kind: "file", path: match?.[1] ?? path, ...(line === undefined ? {} : { line: Number(line) }) };
}

function pathOf(address: string): string | undefined {
  const bare = address.replace(/^file:\/\/(?=\/)/i, "");
  // A drive letter is no scheme, a line number after a colon neither.
  const isPath =
    bare !== "" &&
    !bare.startsWith("#") &&
    !bare.startsWith("//") &&
    (/^[a-z]:[\\/]/i.test(bare) || !/^[a-z][a-z\d+.-]*:(?!\d+(:\d+)?$)/i.test(bare));
  if (!isPath) {
    return undefined;
  }
  try {
    return decodeURIComponent(bare);
  } catch {
    return undefined;
  }
}

type Parser = InstanceType<typeof MarkdownIt>;

/** Delimiters of formulas. A single dollar is a price more often than a formula. */
const FORMULAS = [
  ["\\(", "\\)"],
  ["\\[", "\\]"],
  ["$$", "$$"],
] as const;

/** Teaches the parser that a formula is one token, `math`, with its source as it is. */
export function keepFormulas(parser: Parser): void {
  parser.inline.ruler.before("escape", "math", (state, silent) => {
    const formula = FORMULAS.find(([begin]) => state.src.startsWith(begin, state.pos));
    const end = formula === undefined ? -1 : state.src.indexOf(formula[1], state.pos + 2);
    if (end <= state.pos + 2) {
      return false;
    }
    if (!silent) {
      state.push("math", "", 0).content = state.src.slice(state.pos, end + 2);
    }
    state.pos = end + 2;
    return true;
  });
}

/** A web address without the punctuation after it; or a file with a line: `src/a.py:12`. */
const LINK =
  /https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]}]|(?<![\w/.:@-])(?:[\w.-]+[/\\])*[\w-][\w.-]*\.[a-z][a-z\d]{0,7}:\d+(?::\d+)?(?![\w:.]*\w)/gi;
const ONLY_LINK = new RegExp(`^(?:${LINK.source})$`, "i");

/** The same tokens, with links where a text or a piece of code names a place. What is a link already stays as it is. */
export function withPlainLinks(tokens: readonly Token[]): Token[] {
  let depth = 0;
  return tokens.flatMap((token) => {
    depth += token.type === "link_open" ? 1 : token.type === "link_close" ? -1 : 0;
    if (depth > 0 || token.type === "link_close") {
      return [token];
    }
    if (token.type === "code_inline") {
      return ONLY_LINK.test(token.content) ? linked(token, token.content) : [token];
    }
    return token.type === "text" ? splitText(token) : [token];
  });
}

function splitText(token: Token): Token[] {
  const parts: Token[] = [];
  let from = 0;
  for (const { 0: found, index } of token.content.matchAll(LINK)) {
    parts.push(textLike(token, token.content.slice(from, index)), ...linked(textLike(token, found), found));
    from = index + found.length;
  }
  return from === 0 ? [token] : [...parts, textLike(token, token.content.slice(from))];
}

function linked(token: Token, href: string): Token[] {
  const open = tokenLike(token, "link_open", 1);
  open.attrSet("href", href.replaceAll("\\", "/"));
  return [open, token, tokenLike(token, "link_close", -1)];
}

function textLike(token: Token, content: string): Token {
  const made = tokenLike(token, "text", 0);
  made.content = content;
  return made;
}

function tokenLike(token: Token, type: string, nesting: -1 | 0 | 1): Token {
  const made = Object.create(Object.getPrototypeOf(token) as object) as Token;
  return Object.assign(made, { type, tag: "", nesting, attrs: null, content: "", children: null, meta: null, map: null });
}
