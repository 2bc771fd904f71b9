/** What is offered after `/` and `@`, and what comes of choosing it. */

import { settle } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import { opened } from "./composing";
import { deferred } from "./deferred";

test("a command that is typed in full runs at the first Enter, with the menu open", async () => {
  const { write, press, options, done } = opened();
  await write("/compact");
  assert.deepEqual(options(), ["/compact [focus]"]);
  await press("Enter");
  assert.deepEqual(done, ['slash {"name":"compact","focus":""}']);
});

test("the menu completes a command that takes an argument, and runs one that takes none", async () => {
  const { box, write, press, done } = opened();
  await write("/com");
  await press("Enter");
  assert.deepEqual([box.value, done], ["/compact ", []]);
  await write("/he");
  await press("Enter");
  assert.deepEqual(done, ['slash {"name":"help"}']);
});

test("arrow keys walk the menu; Escape closes it", async () => {
  const { write, press, options, done } = opened();
  await write("/co");
  await press("ArrowDown");
  await press("Enter");
  assert.deepEqual(done, ['slash {"name":"context"}']);
  await write("/co");
  await press("Escape");
  assert.deepEqual(options(), []);
});

const BROUGHT = {
  commands: [
    { name: "compact", description: "Ullage's own" },
    { name: "council", description: "Ask all", input: { hint: "[question]" }, source: ".claude/commands/council.md" },
    { name: "docs:review", description: "Review", source: ".claude/commands/docs/review.md" },
  ],
};

test("commands of the project stand below Ullage's own, and one without arguments is sent at once", async () => {
  const { box, write, press, options, list, done } = opened();
  await write("/co");
  await press("ArrowDown");
  list(BROUGHT);
  await settle();
  assert.deepEqual(options(), ["/compact [focus]", "/context", "/council [question]"]);
  await press("ArrowDown");
  await press("Enter");
  assert.equal(box.value, "/council ");
  await write("/docs:");
  assert.deepEqual(options(), ["/docs:review"]);
  await press("Enter");
  assert.deepEqual(done, ["prompt /docs:review [] queue"]);
});

for (const key of ["Escape", "Enter"]) {
  test(`commands of the project that come after ${key} open no menu`, async () => {
    const { write, press, options, list } = opened();
    await write("/context");
    await press(key);
    list(BROUGHT);
    await settle();
    assert.deepEqual(options(), []);
  });
}

test("a file is attached from the menu and named in the text", async () => {
  const { box, write, press, done } = opened();
  await write("Look at @ta");
  await press("Enter");
  assert.equal(box.value, "Look at @src/tank.py ");
  await press("Enter");
  assert.deepEqual(done, ['prompt Look at @src/tank.py [{"kind":"file","uri":"file:///w/src/tank.py"}] queue']);
});

test("the list of suggestions can have the focus, and its keys then choose", async () => {
  const { composer, box, write } = opened();
  document.body.replaceChildren(composer.element);
  await write("/comp");
  const menu = document.querySelector<HTMLElement>("#completions");
  menu?.focus();
  assert.ok(menu !== null && !menu.hidden && document.activeElement === menu);
  menu.dispatchEvent(new window.KeyboardEvent("keydown", { key: "Enter", cancelable: true }));
  await settle();
  assert.equal(document.activeElement, box);
  assert.equal(box.value, "/compact ");
});

test("who types fast chooses from the list of what they typed", async () => {
  const { box, write, press, options, finding } = opened();
  await write("@");
  assert.equal(options()[0], "problems");
  const found = deferred<object>();
  finding.held = found.promise;
  await write("@ta");
  await press("Enter");
  assert.equal(box.value, "@ta", "what is in sight is of @ alone");
  found.resolve({});
  await settle();
  assert.equal(box.value, "@src/tank.py ");
});

test("a key that waits for the list is forgotten when the user types on", async () => {
  const { box, write, press, options, done, finding } = opened();
  await write("@");
  const found = deferred<object>();
  finding.held = found.promise;
  await write("@ta");
  await press("Enter");
  await write("@tan");
  found.resolve({});
  await settle();
  assert.equal(box.value, "@tan");
  assert.deepEqual(options(), ["tank.py"]);
  assert.deepEqual(done, []);
});

test("a page that is named after @ is attached once, and goes with the prompt", async () => {
  const { composer, write, press, options, done } = opened();
  await write("see @https://a.org/x");
  assert.deepEqual(options(), ["https://a.org/x"]);
  await press("Enter");
  const chips = () => [...composer.element.querySelectorAll(".chip bdi")].map((chip) => chip.textContent);
  assert.deepEqual(chips(), ["a.org/x"]);
  await write("see @https://a.org/x and @https://b.org");
  await press("Escape");
  await press("Enter");
  assert.deepEqual(done, [
    'prompt see @https://a.org/x and @https://b.org [{"kind":"page","url":"https://a.org/x"},{"kind":"page","url":"https://b.org"}] queue',
  ]);
});

test("what the editor shows is put together when it is named, and why not is said", async () => {
  const { composer, write, press, done } = opened();
  await write("@termin");
  await press("Enter");
  await settle();
  assert.equal(composer.element.querySelector(".chip bdi")?.textContent, "terminal");
  const refusing = opened({}, "", true, [], new Error("No terminal is open"));
  await refusing.write("@termin");
  await refusing.press("Enter");
  await settle();
  assert.equal(refusing.composer.element.querySelectorAll(".chip").length, 0);
  assert.deepEqual([done, refusing.done], [[], ["refuse No terminal is open"]]);
});
