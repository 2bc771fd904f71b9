/**
 * The text of a block as DOM: made node by node, so that nothing a model writes is ever read as HTML. Links carry no address that the page
 * could follow by itself, they are opened by the host. Images of the workspace are shown; one that is drawn again soon, as while its answer grows, is
 * not read again.
 */

import type { Token } from "markdown-it";
import { t } from "../../src/l10n";
import { element, icon } from "../dom";
import type { ImageFile } from "../messages";
import { linkTarget } from "./inline";

/** What a click in a model's text asks for. */
export interface MarkdownHost {
  openLink: (href: string) => void;
  openFile: (path: string, line?: number) => void;
  copy: (text: string) => void;
  /** Puts a text where the cursor stands in the editor. */
  insert: (text: string) => void;
  /** Offers a text as a change of a file: the one at `path`, else the one in the active editor. */
  apply: (text: string, path?: string) => void;
  /** The image at a path in the workspace; refused where it may not be shown. */
  readImage: (path: string) => Promise<ImageFile>;
}

/** Elements that hold other text, by the type of the token. */
const ELEMENTS: Readonly<Record<string, keyof HTMLElementTagNameMap>> = { em_open: "em", strong_open: "strong", s_open: "s" };

/** The nodes for the tokens of a text. */
export function drawText(tokens: readonly Token[], host: MarkdownHost): ChildNode[] {
  const root = document.createDocumentFragment();
  const open: Node[] = [root];
  for (const token of tokens) {
    const place = open.at(-1) ?? root;
    if (token.nesting < 0) {
      open.pop();
      continue;
    }
    const node = nodeOf(token, host);
    place.appendChild(node);
    if (token.nesting > 0) {
      open.push(node);
    }
  }
  root.normalize();
  return [...root.childNodes];
}

function nodeOf(token: Token, host: MarkdownHost): Node {
  switch (token.type) {
    case "code_inline": {
      const code = document.createElement("code");
      code.textContent = token.content;
      return code;
    }
    case "math": {
      const formula = document.createElement("span");
      formula.className = "math";
      formula.textContent = token.content;
      return formula;
    }
    case "image":
      return imageOf(token, host);
    case "softbreak":
      return document.createTextNode("\n");
    case "hardbreak":
      return document.createElement("br");
    case "link_open":
      return linkOf(token, host);
    default: {
      const tag = ELEMENTS[token.type];
      return tag === undefined ? emptyOrText(token) : document.createElement(tag);
    }
  }
}

/**
 * An image of the workspace is shown where the host gives it. Else, and until then, what it shows is named. Nothing is loaded from the web.
 * A click opens it, in the editor or after a question in the browser.
 */
function imageOf(token: Token, host: MarkdownHost): Node {
  const href = String(token.attrGet("src") ?? "");
  const name = token.content || href;
  const shown = linkNode(href, host);
  shown.append(icon("file-media"), name);
  shown.classList.add("image-link");
  const target = linkTarget(href);
  if (target.kind === "file") {
    showImage(target.path, host, (url) => shown.replaceChildren(element("img", { className: "answer-image", alt: name, src: url })));
  }
  return shown;
}

/** Text as it is. What holds other text and is not known adds nothing to it. */
function emptyOrText(token: Token): Node {
  return token.nesting > 0 ? document.createElement("span") : document.createTextNode(token.content);
}

function linkOf(token: Token, host: MarkdownHost): HTMLElement {
  return linkNode(String(token.attrGet("href") ?? ""), host);
}

function linkNode(href: string, host: MarkdownHost): HTMLElement {
  const target = linkTarget(href);
  if (target.kind === "none") {
    return document.createElement("span");
  }
  const anchor = document.createElement("a");
  anchor.setAttribute("href", target.kind === "web" ? target.href : "#");
  anchor.title = target.kind === "web" ? target.href : t("Open {path}", { path: target.path });
  anchor.addEventListener("click", (event) => {
    event.preventDefault();
    event.stopPropagation();
    if (target.kind === "web") {
      host.openLink(target.href);
    } else {
      host.openFile(target.path, target.line);
    }
  });
  return anchor;
}

interface Reader {
  readImage: (path: string) => Promise<ImageFile>;
}

/** Milliseconds for which an image is taken for what its file holds. */
const FRESH = 10_000;

/** By path: the image's address in this page; undefined if it may not be shown. */
const read = new Map<string, { url: string | undefined } | Promise<string | undefined>>();

/** Calls `show` with an address in this page: at once where it was read just now, not at all where it may not be shown. */
function showImage(path: string, reader: Reader, show: (url: string) => void): void {
  const known = read.get(path);
  if (known !== undefined && !(known instanceof Promise)) {
    if (known.url !== undefined) {
      show(known.url);
    }
    return;
  }
  const reading = known ?? readOnce(path, reader);
  void reading.then((url) => url !== undefined && show(url));
}

function readOnce(path: string, reader: Reader): Promise<string | undefined> {
  const reading = readNow(path, reader);
  read.set(path, reading);
  return reading;
}

async function readNow(path: string, reader: Reader): Promise<string | undefined> {
  const url = await reader.readImage(path).then(
    ({ mediaType, bytes }) => URL.createObjectURL(new Blob([Uint8Array.from(bytes)], { type: mediaType })),
    () => undefined,
  );
  read.set(path, { url });
  setTimeout(() => {
    read.delete(path);
    if (url !== undefined) {
      URL.revokeObjectURL(url); // what is shown stays shown
    }
  }, FRESH);
  return url;
}
