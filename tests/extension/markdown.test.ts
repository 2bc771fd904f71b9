import "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import { MarkdownView } from "../../client-extension/webview/markdown/view";
import { recordMarkdown } from "../../client-extension/webview/history/compactionText";

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
    insert: (text) => opened.copied.push(`inserted: ${text}`),
    apply: (text, path) => opened.copied.push(`applied to ${path ?? "the editor"}: ${text}`),
    readImage: async (path) => {
      if (path !== "docs/tank.png") {
        throw new Error(`File not found: ${path}`);
      }
      return { mediaType: "image/png", bytes: new Uint8Array([1]) };
    },
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

/** What changes in the page while a text goes from one length to another. */
function changes(from: string, to: string): { markdown: MarkdownView; records: MutationRecord[] } {
  const { markdown } = view();
  markdown.update(from);
  const observer = new window.MutationObserver(() => undefined);
  observer.observe(markdown.element, { subtree: true, childList: true, characterData: true, attributes: true });
  markdown.update(to);
  return { markdown, records: observer.takeRecords() };
}

const LINES = (line: string) => line.repeat(300);

for (const [name, text, piece, most] of [
  ["a code block", `\`\`\`python\n${LINES("a = 1\n")}b =`, " 2\nc", 1],
  ["a code block in a list", `1. Do this:\n\n   \`\`\`python\n${LINES("   a = 1\n")}   b =`, " 2\n   c", 1],
  ["a table", `| a | b |\n|---|---|\n${LINES("| 1 | **2** |\n")}| 3 |`, " 4 |\n| 5 | 6 |\n", 2],
  ["a list", `${LINES("- one **tank**\n")}- thr`, "ee\n- four", 2],
  ["a nested list", `- all\n${LINES("  - one **tank**\n")}  - thr`, "ee\n  - four", 2],
  ["a quote", `${LINES("> one **tank**\n>\n")}> thr`, "ee\n>\n> four", 2],
  ["paragraphs", `${LINES("one **tank**\n\n")}thr`, "ee\n\nfour", 2],
] as const) {
  test(`of ${name} that grows only the end is drawn`, () => {
    const { records } = changes(text, text + piece);
    assert.ok(records.length > 0 && records.length <= most, `${records.length} changes`);
  });
}

test("a long code block is coloured when it is whole", async () => {
  const code = LINES("if a < b:\n");
  const { markdown, records } = changes(`\`\`\`python\n${code}`, `\`\`\`python\n${code}\`\`\`\n`);
  assert.deepEqual(records, []);
  assert.equal(markdown.element.querySelector(".hljs-keyword"), null);
  await new Promise((done) => setTimeout(done, 20));
  assert.equal(markdown.element.querySelectorAll(".hljs-keyword").length, 300);
  assert.equal(markdown.element.querySelector("code")?.textContent, code);
});

test("code is coloured without its text being changed", () => {
  const code = "a = \"<b> & 'c' &amp; </span>\" # &#x27;\n";
  assert.equal(rendered(`\`\`\`python\n${code}\`\`\`\n`).querySelector("code")?.textContent, code);
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

test("formulas keep their backslashes", () => {
  for (const formula of ["\\(\\alpha_1 \\{x\\}\\)", "\\[\\frac{a}{b} \\\\ c\\]", "$$\\sum_i x_i * y_i$$"]) {
    assert.equal(rendered(`It is ${formula}.`).textContent, `It is ${formula}.`);
    assert.equal(rendered(formula).querySelector("em"), null);
  }
  assert.equal(rendered("5\\* and \\(open").textContent, "5* and (open");
  assert.equal(rendered("It costs $4 and $5").textContent, "It costs $4 and $5");
});

test("tasks have boxes", () => {
  assert.deepEqual(
    [...rendered("- [ ] open\n- [x] done\n- [link](a.py) no task\n").querySelectorAll("li")].map((item) => item.textContent?.trim()),
    ["☐ open", "☑ done", "link no task"],
  );
});

for (const [text, links] of [
  ["See src/a.py:12 and `tests/b_test.ts:3:7`.", ["src/a.py:12", "tests/b_test.ts:3:7"]],
  ["Go to https://example.org/a?b=c, then.", ["https://example.org/a?b=c"]],
  ["(https://example.org)", ["https://example.org"]],
  ["At 12:30:45, v1.2.3, localhost:8080, a:1, `x = 1`", []],
  ["[named](a.py) https://a.b", ["named", "https://a.b"]],
  ["javascript:alert(1) file:///etc/passwd:1", []],
] as const) {
  test(`places and addresses are links: ${text}`, () => {
    const element = rendered(text);
    assert.deepEqual(
      [...element.querySelectorAll("a")].map((link) => link.textContent),
      links,
    );
    assert.equal(element.textContent?.replaceAll("`", ""), text.replaceAll("`", "").replace("[named](a.py)", "named"));
  });
}

test("a place opens at its line", () => {
  const { markdown, opened } = view();
  markdown.update("`src/a.py:12`");
  markdown.element.querySelector("a")?.click();
  assert.deepEqual(opened.files, [["src/a.py", 12]]);
});

test("an image of the workspace is shown, and named where it is none; nothing is loaded from the web", async () => {
  URL.createObjectURL = () => "blob:shown";
  URL.revokeObjectURL = () => undefined;
  const { element } = (() => {
    const { markdown } = view();
    markdown.update("![A tank](docs/tank.png) ![gone](docs/gone.png) ![far](https://x.example/p.png)");
    return markdown;
  })();
  await new Promise(setImmediate);
  assert.deepEqual(
    [...element.querySelectorAll("img")].map((image) => [image.getAttribute("src"), image.alt]),
    [["blob:shown", "A tank"]],
  );
  assert.equal(element.textContent, " gone far");
});

test("an image is opened by a click", () => {
  const { markdown, opened } = view();
  markdown.update("![A tank](docs/tank.png) ![far](https://x.example/p.png)");
  for (const link of markdown.element.querySelectorAll("a")) {
    link.click();
  }
  assert.deepEqual([opened.files, opened.links], [[["docs/tank.png", undefined]], ["https://x.example/p.png"]]);
});

test("code can be put where the cursor stands", () => {
  const { markdown, opened } = view();
  markdown.update("```python\nx = 1\n```\n");
  markdown.element.querySelector<HTMLButtonElement>(".code-insert")?.click();
  assert.deepEqual(opened.copied, ["inserted: x = 1"]);
});

test("code can be applied to the file that it names, else to the one in the editor", () => {
  const { markdown, opened } = view();
  markdown.update("```python\nx = 1\n```\n\n```python src/a.py\ny = 2\n```\n");
  for (const button of markdown.element.querySelectorAll<HTMLButtonElement>(".code-apply")) {
    button.click();
  }
  assert.deepEqual(opened.copied, ["applied to the editor: x = 1", "applied to src/a.py: y = 2"]);
});

test("a paragraph finds its own direction", () => {
  assert.equal(rendered("שלום").querySelector("p")?.dir, "auto");
});

for (const [text, selector] of [
  ["| a | b |\n|---|---|\n| 1 | 2 |\n", "table"],
  ["```\nlong\n```\n", "pre"],
] as const) {
  test(`the keyboard can scroll a wide ${selector}`, () => {
    const found = rendered(text).querySelector<HTMLElement>(`${selector}[tabindex="0"], ${selector} [tabindex="0"]`);
    assert.ok(found, rendered(text).innerHTML);
  });
}
