/** Writing and sending: keys, drafts, what happens while a turn runs. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Attachment } from "../../client-extension/webview/dock/attachments";
import { colour, contrast, declared } from "./colours";
import { opened } from "./composing";
import { gauge, user } from "./samples";

test("Enter sends and empties the box", async () => {
  const { box, write, press, done } = opened();
  await write("  fix the test ");
  await press("Enter");
  assert.deepEqual(done, ["prompt fix the test [] queue"]);
  assert.equal(box.value, "");
});

test("Shift+Enter, and Enter of an input method, send nothing", async () => {
  const { write, press, done } = opened();
  await write("fix");
  await press("Enter", { shiftKey: true });
  await press("Enter", { isComposing: true });
  assert.deepEqual(done, []);
});

test("a draft that was sent since it was remembered is dropped; another one stays", () => {
  const items = [user("u1", { text: "fix the test" })];
  assert.equal(opened({ items }, "fix the test").box.value, "");
  assert.equal(opened({ items }, "fix another test").box.value, "fix another test");
});

test("what was attached is remembered with the text, and comes back when the page is drawn anew", async () => {
  const pasted: Attachment = { name: "pasted image", ref: { kind: "pasted", data: "aGk=" } };
  const { write, press, done, remembered } = opened({}, "", true, [pasted]);
  await write("look");
  assert.deepEqual(remembered.at(-1), ["look", ["pasted image"]]);
  await press("Enter");
  assert.deepEqual(done, ['prompt look [{"kind":"pasted","data":"aGk="}] queue']);
  assert.deepEqual(remembered.at(-1), ["", []]);
});

test("blank text is not sent", async () => {
  const { write, press, done } = opened();
  await write("  \n ");
  await press("Enter");
  assert.deepEqual(done, []);
});

test("while a turn runs Enter queues and Ctrl+Enter steers", async () => {
  const { write, press, done } = opened({ state: "running" });
  await write("one");
  await press("Enter");
  await write("two");
  await press("Enter", { ctrlKey: true });
  assert.deepEqual(done, ["prompt one [] queue", "prompt two [] steer"]);
});

test("without a server nothing is sent and nothing is lost", async () => {
  const { composer, box, write, press, done } = opened();
  composer.update(undefined, false);
  await write("fix");
  await press("Enter");
  assert.deepEqual([done, box.value], [[], "fix"]);
});

test("a prompt that the server refuses comes back into the box", async () => {
  const { box, write, press } = opened({}, "", false);
  await write("fix");
  await press("Enter");
  assert.equal(box.value, "fix");
});

test("a command is run, not sent", async () => {
  const { write, press, done } = opened();
  await write("/compact the failing test");
  await press("Enter");
  assert.deepEqual(done, ['slash {"name":"compact","focus":"the failing test"}']);
});

test("the arrow up brings back the last prompt, the arrow down the draft", async () => {
  const { box, press } = opened({ items: [user("p1", { text: "one" }), user("p2", { text: "two" })] });
  await press("ArrowUp");
  assert.equal(box.value, "two");
  await press("ArrowUp");
  assert.equal(box.value, "one");
  await press("ArrowDown");
  await press("ArrowDown");
  assert.equal(box.value, "");
});

test("the arrow up moves the cursor where something was written", async () => {
  const { box, write, press } = opened({ items: [user("p1", { text: "one" })] });
  await write("draft");
  await press("ArrowUp");
  assert.equal(box.value, "draft");
});

test("the draft of a panel that was hidden is there again", () => {
  assert.equal(opened({}, "half a thought").box.value, "half a thought");
});

test("a prompt of before is put into the box with what was attached, above what was being written", async () => {
  const { composer, box, write, press, done } = opened();
  const attachments = [{ kind: "file" as const, uri: "file:///w/src/the%20tank.py" }, { kind: "problems" as const }];
  composer.put({ text: "use inches", attachments });
  assert.equal(box.value, "use inches");
  assert.deepEqual(
    [...composer.element.querySelectorAll(".chip")].map((chip) => chip.textContent),
    ["the tank.py", "problems"],
  );
  await write("half a thought");
  composer.put({ text: "use inches", attachments: [] });
  assert.equal(box.value, "use inches\n\nhalf a thought");
  assert.equal(box.selectionStart, "use inches".length);
  await write("use feet");
  await press("Enter");
  assert.deepEqual(done, [`prompt use feet ${JSON.stringify(attachments)} queue`]);
});

test("a prompt that is in the box already is not put there twice", async () => {
  const { composer, box } = opened({}, "use inches");
  composer.put({ text: "use inches", attachments: [] });
  assert.equal(box.value, "use inches");
});

test("at 1 % the meter is filled by 1 %", () => {
  const { composer } = opened({ gauge: gauge({ used: 1_670, threshold: 167_000 }) });
  const fill = composer.element.querySelector<HTMLElement>(".meter .meter-fill");
  assert.equal(fill?.style.width, "1%");
  assert.ok(fill.parentElement?.classList.contains("meter-bar"));
});

for (const theme of ["dark", "light"] as const) {
  test(`what is filled of the meter is told from its track in the ${theme} theme`, () => {
    const behind = declared(".composer", "background") ?? "";
    const track = declared(".meter-bar", "background") ?? behind;
    const fill = declared(".meter-fill", "background") ?? "";
    const ratio = contrast(colour(fill, theme), colour(track, theme));
    assert.ok(ratio >= 3, `${ratio.toFixed(2)} to 1`);
  });
}

test("a prompt that was not taken comes back with what was attached", async () => {
  const { composer, box, write, press } = opened({}, "", false);
  await write("see @https://a.org/x ");
  await press("Enter");
  assert.equal(box.value, "see @https://a.org/x ");
  assert.equal(composer.element.querySelectorAll(".chip").length, 1);
});
