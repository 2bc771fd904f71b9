/** Syntax colours for a dozen languages; everything else stays plain. */

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

const LANGUAGES = { bash, css, diff, go, java, javascript, json, markdown, python, rust, sql, typescript, xml, yaml };

for (const [name, language] of Object.entries(LANGUAGES)) {
  hljs.registerLanguage(name, language);
}

/** Characters over which a block stays plain: colouring it would be felt. */
const MOST_CHARACTERS = 50_000;

/** What highlight.js writes: spans with a class, and text in which four characters are escaped. */
const PIECES = /<span class="([^"]*)">|<\/span>|&(amp|lt|gt|quot|#x27);|[^<&]+/g;
const ESCAPED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

/** The code as coloured nodes; undefined where the language is not known or the code is too long. */
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
