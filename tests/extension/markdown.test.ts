import "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import { MarkdownView } from "../../client-extension/webview/markdown";
import { recordMarkdown } from "../../client-extension/webview/recordMarkdown";

interface Opened {
  links: string[];
  files: [string, number | undefined][];
  copied: string[];
}

function view(): { markdown: MarkdownView; opened: Opened } {
  const opened: Opened = { links: [], files: [], copied: [] };
  const markdown = new MarkdownView({
    openLink: (href) => opened.links.push(href),
    openFile: (path, line) => opened.files.push([path, line]),
    copy: (text) => opened.copied.push(text),
  });
  return { markdown, opened };
}

function rendered(text: string): HTMLElement {
  const { markdown } = view();
  markdown.update(text);
  return markdown.element;
}

const HOSTILE = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg onload=alert(1)><a xlink:href='javascript:alert(1)'>x</a></svg>",
  "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
  "<style>body { display: none }</style>",
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](&#106;avascript:alert(1))",
  "[x](java\tscript:alert(1))",
  "[x](data:text/html;base64,PHNjcmlwdD4=)",
  "[x](vbscript:msgbox(1))",
  "[x](command:workbench.action.terminal.new)",
  "[x](vscode://file/etc/passwd)",
  "![x](https://example.org/track.png)",
  "![x](data:image/svg+xml,<svg/onload=alert(1)>)",
  "<javascript:alert(1)>",
  '[x](https://example.org "onmouseover=alert(1)")',
  "```html\n<script>alert(1)</script>\n```",
  "```<img/src/onerror=alert(1)>\ncode\n```",
  "[x]: javascript:alert(1)\n\n[x]",
];

for (const text of HOSTILE) {
  test(`nothing runs or loads: ${JSON.stringify(text)}`, () => {
    const page = rendered(text);
    assert.equal(page.querySelector("script, img, svg, iframe, style, object, embed, form, input, link, meta"), null);
    for (const element of page.querySelectorAll("*")) {
      for (const { name, value } of element.attributes) {
        assert.doesNotMatch(name, /^on|^style$|^src|^data-/, page.innerHTML);
        if (name === "href") {
          assert.match(value, /^(#|https?:\/\/)/, page.innerHTML);
        }
      }
    }
  });
}

test("HTML of the model is shown as text", () => {
  assert.equal(rendered("a <b>bold</b> move").textContent?.trim(), "a <b>bold</b> move");
});

test("Markdown becomes elements", () => {
  const page = rendered("# Title\n\nSome *text* and `code`.\n\n- one\n- two\n\n| a | b |\n|--|--:|\n| 1 | 2 |\n");
  assert.equal(page.querySelector("h1")?.textContent, "Title");
  assert.equal(page.querySelectorAll("li").length, 2);
  assert.equal(page.querySelector("td.align-right")?.textContent, "2");
});

test("known languages are coloured, and the code is copied as it is written", () => {
  const { markdown, opened } = view();
  markdown.update("```python\nif a < b:\n    pass\n```\n");
  assert.equal(markdown.element.querySelector(".hljs-keyword")?.textContent, "if");
  markdown.element.querySelector<HTMLButtonElement>(".code-copy")?.click();
  assert.deepEqual(opened.copied, ["if a < b:\n    pass"]);
});

test("links are opened by the host", () => {
  const { markdown, opened } = view();
  markdown.update("[web](https://example.org/a) [file](src/a%20b.py#L12) [line](src/c.py:7)");
  markdown.element.querySelectorAll("a").forEach((anchor) => anchor.click());
  assert.deepEqual(opened.links, ["https://example.org/a"]);
  assert.deepEqual(opened.files, [
    ["src/a b.py", 12],
    ["src/c.py", 7],
  ]);
});

const LONG = [
  "# Title",
  "",
  "A paragraph that",
  "goes on.",
  "",
  "- one",
  "",
  "  more of one",
  "- two",
  "",
  "```python",
  "a = 1",
  "",
  "b = 2",
  "```",
  "",
  "> quoted",
  "",
  "| a | b |",
  "|---|---|",
  "| 1 | 2 |",
  "",
  "Setext",
  "===",
  "",
  "[link][ref]",
  "",
  "1. first",
  "2. second",
  "",
  "The end.",
].join("\n");

test("a text that streams in ends as the same page as the whole text", () => {
  for (const step of [1, 7, 50]) {
    const { markdown } = view();
    for (let end = 0; end <= LONG.length + step; end += step) {
      markdown.update(LONG.slice(0, end));
    }
    assert.equal(markdown.element.innerHTML, rendered(LONG).innerHTML, `step ${step}`);
  }
});

test("blocks before the last are not drawn again when more text comes", () => {
  const { markdown } = view();
  markdown.update("first\n\nsecond\n\nthi");
  const first = markdown.element.firstElementChild;
  markdown.update("first\n\nsecond\n\nthird\n\nfourth");
  assert.equal(markdown.element.firstElementChild, first);
  assert.equal(markdown.element.textContent?.replaceAll("\n", ""), "firstsecondthirdfourth");
});

test("a text that does not go on from the one before is drawn anew", () => {
  const { markdown } = view();
  markdown.update("one\n\ntwo");
  markdown.update("three");
  assert.equal(markdown.element.textContent?.trim(), "three");
});

test("a name in a record keeps its underscores, also where they would mean emphasis", () => {
  const { markdown } = view();
  markdown.update(recordMarkdown("- __init__.py: _private readings_ `__main__`"));
  assert.equal(markdown.element.textContent?.trim(), "__init__.py: _private readings_ __main__");
  assert.equal(markdown.element.querySelector("strong, em"), null);
});
