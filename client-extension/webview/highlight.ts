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

/** HTML with the code escaped and coloured; undefined where the language is not known or the code is too long. */
export function highlight(code: string, language: string): string | undefined {
  if (code.length > MOST_CHARACTERS || hljs.getLanguage(language) === undefined) {
    return undefined;
  }
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}
