/** A text that grows looks at every moment as if it had been drawn at once, whatever stands where it is cut. */

import "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import { textOf } from "../../client-extension/webview/markdown/blocks";
import { GrowingText } from "../../client-extension/webview/markdown/view";
import { drawText } from "../../client-extension/webview/markdown/text";

const HOST = { openLink() {}, openFile() {}, copy() {}, insert() {}, apply() {}, readImage: () => Promise.reject(new Error("none")) };

/** What is drawn, with neighbouring pieces of text as one. */
function shown(place: HTMLElement): string {
  const copy = place.cloneNode(true) as HTMLElement;
  copy.normalize();
  return copy.innerHTML;
}

function drawnAtOnce(content: string): string {
  const place = document.createElement("p");
  place.append(...drawText(textOf(content, {}), HOST));
  return shown(place);
}

const PARTS = [
  "**bold for a while** and ",
  "*a **b c* d** e ",
  "_one_ snake_case __two words__ ",
  "~~gone for good~~ ~ ",
  "[a link](src/a b.py) [0] [[in] it](b.py) ",
  "*a [b* c](d.py) ",
  "![what it shows](a.png) ",
  "`code with spaces` ``a ` b`` ",
  "\\(x + y\\) \\[z z\\] $$a b$$ costs $5 and $6 ",
  "2 * 3 * 4 a*b c_d \\* \\_ \\[ x ",
  "see src/a.py:12 and https://example.org/a_b_c. ",
  "a line\nand the next  \nand one more\\\nand ",
  "&amp; &lt;b> <https://example.org/x> < > ",
  "an [open bracket and ",
  "an **open mark and ",
  "an `open tick and ",
  "an \\( open formula and ",
];

for (const part of PARTS) {
  test(`as if drawn at once: ${JSON.stringify(part)}`, () => {
    for (const [before, size] of [
      [1290, 41],
      [1330, 197],
    ] as const) {
      const plain = "The tank is full. ".repeat(200).slice(0, before).trimEnd();
      const whole = `${plain} ${part.repeat(9)}${plain} ${part}${plain} The) end** of] it\` all\\) and_ $$ so~~ on*`;
      const place = document.createElement("p");
      const growing = new GrowingText(place, HOST);
      for (let length = size; length < whole.length + size; length += size) {
        const content = whole.slice(0, length).trimEnd();
        growing.update(content, {});
        assert.equal(shown(place), drawnAtOnce(content));
      }
    }
  });
}

test("of a long paragraph the nodes of the beginning stay", () => {
  const place = document.createElement("p");
  const growing = new GrowingText(place, HOST);
  const content = "The **tank** holds `litres` and [more](a.py), ".repeat(400);
  growing.update(content.trimEnd(), {});
  const nodes = [...place.childNodes];
  growing.update(`${content}and more.`, {});
  const stayed = nodes.filter((node) => node.parentNode === place).length;
  assert.ok(stayed > 0.95 * nodes.length, `${stayed} of ${nodes.length}`);
});

for (const mark of ["**", "[", "`", "$$", "\\("]) {
  test(`a mark without an end holds nothing up for long: ${mark}`, () => {
    const place = document.createElement("p");
    const growing = new GrowingText(place, HOST);
    const content = `${mark}The tank is full, **all** of it. ${"The **tank** is full. ".repeat(500)}`;
    growing.update(content.trimEnd(), {});
    const nodes = [...place.childNodes];
    growing.update(`${content}and more.`, {});
    const stayed = nodes.filter((node) => node.parentNode === place).length;
    assert.ok(stayed > 0.9 * nodes.length, `${stayed} of ${nodes.length}`);
  });
}

test("another text takes the place of all", () => {
  const place = document.createElement("p");
  const growing = new GrowingText(place, HOST);
  growing.update("The tank is full. ".repeat(200).trimEnd(), {});
  growing.update("The tank is **empty**", {});
  assert.equal(place.innerHTML, "The tank is <strong>empty</strong>");
});
