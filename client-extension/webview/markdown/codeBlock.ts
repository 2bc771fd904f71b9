/**
 * A code block that grows. While it does, its text is only appended to. A short one is coloured meanwhile; a long one when it is whole and
 * the page has nothing else to do. A dozen languages have colours; everything else stays plain.
 */

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { t } from "../../src/l10n";
import { visibleLine } from "../../src/visible";
import { element, growText, icon, iconButton } from "../dom";
import { whenIdle } from "../frames";
import type { Block } from "./blocks";
import type { MarkdownHost } from "./text";

/** Milliseconds for which a copy button says that it has copied. */
const COPIED_SHOWN = 1500;

/** Characters that are coloured again with each piece: some two milliseconds. */
const COLOURED_AT_ONCE = 2000;

export class CodeBlock {
  readonly element = document.createElement("div");
  private readonly code = document.createElement("code");
  /** What has come since the text was coloured last; at first all of it. */
  private rest = document.createTextNode("");
  private content = "";
  /** Characters before `rest`. */
  private coloured = 0;
  private closed = false;
  /** The file that it says it is of. */
  private path: string | undefined;
  private readonly apply: HTMLButtonElement;

  constructor(
    private readonly language: string,
    host: MarkdownHost,
  ) {
    this.element.className = "code-block";
    const block = document.createElement("pre");
    block.tabIndex = 0;
    if (language !== "") {
      this.code.className = `language-${language}`;
    }
    this.code.append(this.rest);
    block.append(this.code);
    const copy = iconButton({
      label: t("Copy code"),
      icon: "copy",
      className: "code-copy",
      onClick: () => {
        host.copy(this.content.replace(/\n$/, ""));
        copy.replaceChildren(icon("check"));
        setTimeout(() => copy.replaceChildren(icon("copy")), COPIED_SHOWN);
      },
    });
    const insert = iconButton({
      label: t("Insert at the cursor"),
      icon: "insert",
      className: "code-insert",
      onClick: () => host.insert(this.content.replace(/\n$/, "")),
    });
    this.apply = iconButton({
      label: t("Apply"),
      icon: "edit-code",
      className: "code-apply",
      onClick: () => host.apply(this.content.replace(/\n$/, ""), this.path),
    });
    this.nameFile(undefined);
    this.element.append(block, element("div", { className: "code-tools" }, this.apply, insert, copy));
  }

  update({ content, closed, path }: Block): void {
    const grew = content.startsWith(this.content);
    const isWhole = closed && !this.closed;
    if (path !== this.path) {
      this.nameFile(path);
    }
    if (content === this.content && !isWhole) {
      return;
    }
    this.content = content;
    this.closed = closed;
    if (content.length <= COLOURED_AT_ONCE) {
      this.drawColoured();
      return;
    }
    if (grew) {
      growText(this.rest, content.slice(this.coloured));
    } else {
      this.drawPlain();
    }
    if (isWhole) {
      whenIdle(() => this.content === content && this.drawColoured());
    }
  }

  private nameFile(path: string | undefined): void {
    this.path = path;
    const label = path === undefined ? t("Apply to the file in the editor") : t("Apply to {path}", { path: visibleLine(path) });
    this.apply.title = t("{label}. The change is shown first", { label });
    this.apply.setAttribute("aria-label", label);
  }

  private drawPlain(): void {
    this.coloured = 0;
    this.rest = document.createTextNode(this.content);
    this.code.replaceChildren(this.rest);
  }

  private drawColoured(): void {
    const nodes = colour(this.content, this.language);
    if (nodes === undefined) {
      growText(this.rest, this.content.slice(this.coloured));
      return;
    }
    this.coloured = this.content.length;
    this.rest = document.createTextNode("");
    this.code.replaceChildren(...nodes, this.rest);
  }
}

const LANGUAGES = { bash, css, diff, go, java, javascript, json, markdown, python, rust, sql, typescript, xml, yaml };

for (const [name, language] of Object.entries(LANGUAGES)) {
  hljs.registerLanguage(name, language);
}

/** Characters over which a block stays plain: colouring it would be felt. */
const MOST_CHARACTERS = 50_000;

/** What highlight.js writes: spans with a class, and text in which four characters are escaped. */
const PIECES = /<span class="([^"]*)">|<\/span>|&(amp|lt|gt|quot|#x27);|[^<&]+/g;
const ESCAPED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

/** The code as coloured nodes; undefined if the language is not known or the code is too long. */
export function colour(code: string, language: string): Node[] | undefined {
  if (code.length > MOST_CHARACTERS || hljs.getLanguage(language) === undefined) {
    return undefined;
  }
  const { value } = hljs.highlight(code, { language, ignoreIllegals: true });
  return nodesOf(value);
}

/** Made without the page's reader of HTML: what is written there comes from a model. */
function nodesOf(html: string): Node[] {
  const root = document.createDocumentFragment();
  const open: Node[] = [root];
  let text = "";
  const place = () => open.at(-1) ?? root;
  const endText = () => {
    if (text !== "") {
      place().appendChild(document.createTextNode(text));
      text = "";
    }
  };
  for (const [piece, className, escaped] of html.matchAll(PIECES)) {
    if (className !== undefined) {
      endText();
      const span = document.createElement("span");
      span.className = className;
      place().appendChild(span);
      open.push(span);
    } else if (piece === "</span>") {
      endText();
      open.pop();
    } else {
      text += escaped === undefined ? piece : (ESCAPED[escaped] ?? piece);
    }
  }
  endText();
  return [...root.childNodes];
}
