/** What the user can do at an item, and what of it is shown when. */

import "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Item, PermissionOption } from "../../client-extension/src/protocol";
import { makeItemView } from "../../client-extension/webview/items";
import { readFixtures } from "./repository";
import { recordingActions } from "./recordingActions";
import { compaction, toolCall, user } from "./samples";

function drawn(item: Item): { element: HTMLElement; update: (item: Item) => void; done: string[] } {
  const { actions, done } = recordingActions();
  const view = makeItemView(item, actions);
  return { element: view.element, update: (next) => view.update(next), done };
}

function button(element: HTMLElement, label: string): HTMLButtonElement {
  const found = [...element.querySelectorAll("button")].find((candidate) => candidate.textContent === label);
  assert.ok(found, `no button "${label}" in ${element.innerHTML}`);
  return found;
}

const PERMISSION: PermissionOption[] = [
  { optionId: "once", name: "Allow once", kind: "allow_once" },
  { optionId: "always", name: "Always allow `pytest *`", kind: "allow_always" },
  { optionId: "no", name: "Refuse", kind: "reject_once" },
];
const ASKING = toolCall("t1", { status: "awaiting_permission", permission: PERMISSION, permissionReason: "Run `pytest`" });

test("each answer to an approval is sent with its option", () => {
  for (const [label, optionId] of [
    ["Allow once", "once"],
    ["Always allow pytest *", "always"],
    ["Refuse", "no"],
  ] as const) {
    const { element, done } = drawn(ASKING);
    button(element, label).click();
    assert.deepEqual(done, [`ullage/permission/respond {"toolCallId":"t1","optionId":"${optionId}"}`]);
  }
});

test("a refusal takes its reason along; Enter in the reason refuses", () => {
  const { element, done } = drawn(ASKING);
  const reason = element.querySelector<HTMLInputElement>(".approval-reason");
  assert.ok(reason);
  reason.value = " use make test ";
  reason.dispatchEvent(new window.KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  assert.deepEqual(done, ['ullage/permission/respond {"toolCallId":"t1","optionId":"no","reason":"use make test"}']);
});

test("a reason that is being written survives updates of the call", () => {
  const { element, update } = drawn(ASKING);
  const reason = element.querySelector<HTMLInputElement>(".approval-reason");
  assert.ok(reason);
  reason.value = "because";
  update({ ...ASKING, title: "changed" });
  assert.equal(element.querySelector<HTMLInputElement>(".approval-reason"), reason);
});

test("an answered approval is gone", () => {
  const { element, update } = drawn(ASKING);
  update(toolCall("t1", { status: "running" }));
  assert.equal(element.querySelector(".approval"), null);
});

function isOpen(element: HTMLElement): boolean {
  return element.querySelector(".tool-header")?.getAttribute("aria-expanded") === "true";
}

test("a call is unfolded while it runs and folds when it is done", () => {
  const { element, update } = drawn(toolCall("t1", { status: "running" }));
  assert.equal(isOpen(element), true);
  update(toolCall("t1", { status: "completed" }));
  assert.equal(isOpen(element), false);
});

test("what the user unfolded stays unfolded", () => {
  const { element, update } = drawn(toolCall("t1", { status: "completed" }));
  element.querySelector<HTMLButtonElement>(".tool-header")?.click();
  update(toolCall("t1", { status: "completed", output: "more" }));
  assert.equal(isOpen(element), true);
});

test("an edit shows what it would change before it is approved", () => {
  const input = '{"path": "a.py", "old_text": "x = 1", "new_text": "x = 2"}';
  const { element } = drawn(toolCall("t1", { ...ASKING, toolKind: "edit", title: "Edit a.py", input }));
  assert.equal(element.querySelector(".diff-removed .diff-text")?.textContent, "x = 1");
  assert.equal(element.querySelector(".diff-added .diff-text")?.textContent, "x = 2");
});

test("output of a tool is text", () => {
  const { element } = drawn(toolCall("t1", { output: "<img src=x onerror=alert(1)>", title: "<b>title</b>" }));
  assert.equal(element.querySelector("img, b"), null);
  assert.match(element.textContent ?? "", /<img src=x onerror=alert\(1\)>/);
});

test("a compaction can be undone, and done again", () => {
  const { element, update, done } = drawn(compaction("c1"));
  button(element, "Undo").click();
  update(compaction("c1", { status: "undone" }));
  button(element, "Redo").click();
  assert.deepEqual(done, ['ullage/session/undoCompaction {"compactionId":"c1"}', 'ullage/session/redoCompaction {"compactionId":"c1"}']);
});

test("a summary that was unfolded stays unfolded when the compaction is undone", () => {
  const { element, update } = drawn(compaction("c1", { summary: "What was said" }));
  const details = element.querySelector("details");
  assert.ok(details);
  details.open = true;
  update(compaction("c1", { summary: "What was said", status: "undone" }));
  assert.equal(element.querySelector("details")?.open, true);
});

for (const [action, label, expected] of [
  ["continue", "Continue", "ullage/session/continue {}"],
  ["set_key", "Set API key", "command ullage.setApiKey"],
  ["settings", "Open settings", "command ullage.openSettings"],
] as const) {
  test(`a notice offers: ${label}`, () => {
    const { element, done } = drawn({ kind: "notice", id: "n1", at: 1, level: "error", text: "x", action });
    button(element, label).click();
    assert.deepEqual(done, [expected]);
  });
}

test("every item of the fixtures can be drawn", () => {
  for (const { name, content } of readFixtures().filter((fixture) => fixture.name.startsWith("item."))) {
    for (const item of [content.complete, content.minimal] as Item[]) {
      assert.equal(drawn(item).element.dataset.itemId, item.id, name);
    }
  }
});

const IMAGE = { name: "docs/tank.png", words: "image, 800 × 600, 638 tokens", path: ".ullage/media/ab12.png" };
const PDF = { name: "docs/tank.pdf", words: "PDF, 2 pages, about 4,600 tokens", path: ".ullage/media/cd34.pdf" };

test("an image that the model was shown stands at its call, folded or not, and opens at a click", () => {
  document.body.dataset.images = "https://panel/media";
  const { element, done } = drawn(toolCall("t1", { status: "completed", media: [IMAGE, PDF] }));
  assert.equal(isOpen(element), false);
  assert.equal(element.querySelector<HTMLElement>(".media")?.hidden, false);
  assert.deepEqual(
    [...element.querySelectorAll("img")].map((image) => image.src),
    ["https://panel/media/ab12.png"],
  );
  button(element, IMAGE.words).click();
  button(element, PDF.words).click();
  assert.deepEqual(done, ["openFile .ullage/media/ab12.png", "openFile .ullage/media/cd34.pdf"]);
  delete document.body.dataset.images;
});

test("an attached image is named once, with what it is", () => {
  const { element } = drawn(user("p1", { attachments: ["a.py", "docs/tank.png"], media: [IMAGE] }));
  assert.deepEqual(
    [...element.querySelectorAll(".chip, .media-button")].map((shown) => shown.textContent),
    ["a.py", "docs/tank.png: image, 800 × 600, 638 tokens"],
  );
});

test("where nothing was shown nothing stands", () => {
  assert.equal(drawn(toolCall("t1")).element.querySelector<HTMLElement>(".media")?.hidden, true);
  assert.equal(drawn(user("p1")).element.querySelector<HTMLElement>(".media")?.hidden, true);
});
