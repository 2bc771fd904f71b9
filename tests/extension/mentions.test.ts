/** What can be named after `@`, and what the editor puts together for it. */

import "./dom";
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { changesTold } from "../../client-extension/src/editor/gitText";
import { commandTold, keptEnd, plainText } from "../../client-extension/src/editor/terminalText";
import { mentionsFor, NamedPages, typedAfterAt, withMention } from "../../client-extension/webview/dock/mentions";

const offered = (typed: string) => mentionsFor(typed).map(({ name }) => name);
const named = (text: string, whole = false) => new NamedPages().newIn(text, whole);

void describe("after @", () => {
  test("names are offered by how they begin", () => {
    assert.deepEqual(offered("t"), ["terminal", "terminalSelection"]);
    assert.deepEqual(offered("TerminalS"), ["terminalSelection"]);
    assert.deepEqual(offered("c"), ["changes"]);
    assert.deepEqual(offered("x"), []);
  });

  test("what is being typed is found, also an address with another @ in it", () => {
    assert.equal(typedAfterAt("look at @src/ta"), "src/ta");
    assert.equal(typedAfterAt("@https://a.org/@me/x"), "https://a.org/@me/x");
    assert.equal(typedAfterAt("me@home"), undefined);
    assert.equal(typedAfterAt("@done "), undefined);
    assert.equal(withMention("look at @sr", "src/$&.ts"), "look at @src/$&.ts ");
  });
});

void describe("pages that a prompt names", () => {
  test("one is named once its address is whole", () => {
    assert.deepEqual(named("@https://a.org/x"), []);
    assert.deepEqual(named("@https://a.org/x y"), ["https://a.org/x"]);
    assert.deepEqual(named("@https://a.org/x", true), ["https://a.org/x"]);
  });

  test("what ends a sentence is none of the address", () => {
    assert.deepEqual(named("See @https://a.org/x. And @http://b.org/w_(c)!", true), ["https://a.org/x", "http://b.org/w_(c)"]);
    assert.deepEqual(named("(see\n@https://a.org/x)", true), ["https://a.org/x"]);
  });

  test("an address without @, or of another kind, asks for nothing", () => {
    assert.deepEqual(named("https://a.org me@https://b.org @ftp://c.org @https:// @file:///etc/passwd", true), []);
  });

  test("each is attached once, so that one that was detached stays detached; named anew it comes again", () => {
    const pages = new NamedPages();
    assert.deepEqual(pages.newIn("@https://a.org/ ", false), ["https://a.org/"]);
    assert.deepEqual(pages.newIn("@https://a.org/ more", false), []);
    assert.deepEqual(pages.newIn("@https://a.org/ more", true), []);
    assert.deepEqual(pages.newIn("more", false), []);
    assert.deepEqual(pages.newIn("@https://a.org/ ", false), ["https://a.org/"]);
  });

  test("of a prompt that is put back, what is attached is attached already", () => {
    const pages = new NamedPages();
    pages.know("@https://a.org/");
    assert.deepEqual(pages.newIn("@https://a.org/", true), []);
  });
});

void describe("what a terminal showed", () => {
  test("is told without colours, titles and marks", () => {
    assert.equal(plainText("\x1b]633;C\x07\x1b[1;32mok\x1b[0m\r\n\x1b]0;title\x1b\\next\x1b[K"), "ok\nnext");
  });

  test("of a line that was written over again the last form stays", () => {
    assert.equal(plainText("10 %\r50 %\r100 %\r\ndone"), "100 %\ndone");
    assert.equal(plainText("ab\bc\x07"), "ac");
  });

  test("with the command and how it ended", () => {
    const ran = { line: "npm test", output: "1 failed\r\n", ended: true, exitCode: 1 };
    assert.equal(commandTold(ran), "$ npm test\n1 failed\n(exit code 1)");
    assert.equal(commandTold({ ...ran, output: "", exitCode: undefined }), "$ npm test\n(no output was seen)");
    assert.equal(commandTold({ ...ran, ended: false }), "$ npm test\n1 failed\n(still running)");
  });

  test("of a long output the end is kept and told", () => {
    const kept = "abcdefghij"
      .repeat(30_000)
      .split("")
      .reduce((all, _, index) => (index % 1000 === 0 ? keptEnd(all, "line\n".repeat(200)) : all), "");
    assert.ok(kept.length <= 200_000);
    const told = commandTold({ line: "x", output: `first\n${kept}last`, ended: true, exitCode: 0 });
    assert.ok(told.length < 30_000 && told.includes("last\n(exit code 0)") && told.includes("[cut here") && !told.includes("first"));
  });
});

test("git changes stand under headings, and by repository where there are several", () => {
  const one = { name: "a", staged: "diff s\n", notStaged: "", untracked: ["new.py"] };
  const told = "Staged:\ndiff s\n\nNew files that git does not know yet:\nnew.py";
  assert.equal(changesTold([one]), told);
  const nothing = { name: "b", staged: "", notStaged: "\n", untracked: [] };
  assert.equal(changesTold([one, nothing]), `Repository a\n\n${told}`);
  assert.equal(changesTold([nothing]), "");
});
