/** What the user can do at an item, and what of it is shown when. */

import { settle } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Item, PermissionOption } from "../../client-extension/src/protocol";
import { lineWith } from "../../client-extension/src/files/fileFacts";
import { makeItemView } from "../../client-extension/webview/items";
import { describeInput } from "../../client-extension/webview/items/toolText";
import { rangesOf } from "../../client-extension/webview/conversation/rows";
import { QueueView } from "../../client-extension/webview/dock/trays";
import type { SessionView } from "../../client-extension/webview/state";
import { colour, contrast, declared } from "./colours";
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
const ASKING = toolCall("t1", {
  status: "awaiting_permission",
  permission: PERMISSION,
  permissionId: "q1",
  permissionReason: "Run `pytest`",
});

test("each answer to an approval is sent with its option", () => {
  for (const [label, optionId] of [
    ["Allow once", "once"],
    ["Always allow pytest *", "always"],
    ["Refuse", "no"],
  ] as const) {
    const { element, done } = drawn(ASKING);
    button(element, label).click();
    assert.deepEqual(done, [`ullage/permission/respond {"toolCallId":"t1","permissionId":"q1","optionId":"${optionId}"}`]);
  }
});

test("a refusal takes its reason along; Enter in the reason refuses", () => {
  const { element, done } = drawn(ASKING);
  const reason = element.querySelector<HTMLInputElement>(".approval-reason");
  assert.ok(reason);
  reason.value = " use make test ";
  reason.dispatchEvent(new window.KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  assert.deepEqual(done, ['ullage/permission/respond {"toolCallId":"t1","permissionId":"q1","optionId":"no","reason":"use make test"}']);
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

test("the card says what was read again after the compaction, as that grows, and nothing where that is nothing", () => {
  const { element, update } = drawn(compaction("c1"));
  const words = () => element.querySelector(".compaction-afterwards")?.textContent;
  assert.equal(words(), undefined);
  update(compaction("c1", { fetchedAgain: { files: [], tokens: 640 } }));
  assert.equal(words(), "Read again after this compaction: 640 tokens");
  update(compaction("c1", { fetchedAgain: { files: ["a.py", "<b>.py", "c.py"], tokens: 4_120, cost: 0.0206 } }));
  assert.equal(words(), "Read again after this compaction: 3 files, 4.1k tokens, $0.02");
  assert.match(element.querySelector<HTMLElement>(".compaction-afterwards")?.title ?? "", /took it out of view\na\.py\n<b>\.py\nc\.py$/);
  update(compaction("c1", { status: "undone" }));
  assert.equal(words(), undefined);
});

function held(inView: number, used: number): { inView: number; used: number } {
  return { inView, used };
}

test("the card says in one line what the compaction was checked against, and nothing where nothing was used", () => {
  const { element, update } = drawn(compaction("c1"));
  const words = () => element.querySelector(".compaction-checked")?.textContent;
  const checked = {
    messages: 14,
    ahead: true,
    paths: held(9, 9),
    names: held(24, 24),
    hashes: held(0, 0),
    characters: held(10, 19),
    added: 1,
  };
  assert.equal(words(), undefined);
  update(compaction("c1", { checked }));
  assert.equal(words(), "Checked: of what the newest 14 messages use, 9 of 9 paths and 24 of 24 names are in view, 1 of them added");
  assert.match(element.querySelector<HTMLElement>(".compaction-checked")?.title ?? "", /Of 19 characters .* 10 would have been in view$/);
  update(compaction("c1", { checked: { ...checked, messages: 1, ahead: false, names: held(0, 0), hashes: held(1, 1), added: 0 } }));
  assert.equal(words(), "Checked: of what the newest message uses, 9 of 9 paths and 1 of 1 hash are in view");
  update(compaction("c1", { checked: { ...checked, paths: held(0, 0), names: held(0, 0), added: 0 } }));
  assert.equal(words(), undefined);
});

test("a summary that was unfolded stays unfolded when the compaction is undone", () => {
  const { element, update } = drawn(compaction("c1", { summary: "What was said" }));
  const details = element.querySelector("details");
  assert.ok(details);
  details.open = true;
  update(compaction("c1", { summary: "What was said", status: "undone" }));
  assert.equal(element.querySelector("details")?.open, true);
});

test("files that the model is told of by name are listed, folded, and what was unfolded stays so", () => {
  const { element, update } = drawn(compaction("c1", { summary: "What was said" }));
  assert.equal(element.querySelector(".compaction-nearby"), null);
  const nearby = ["src/: tank.py (Tank fill), dip.py", "docs/: <b>strapping</b>.md"];
  update(compaction("c1", { summary: "What was said", nearby }));
  const list = element.querySelector<HTMLDetailsElement>(".compaction-nearby");
  assert.equal(list?.open, false);
  assert.equal(list.querySelector("summary")?.textContent, "Told of by name: files in 2 folders");
  assert.deepEqual(
    [...list.querySelectorAll("li")].map(({ textContent }) => textContent),
    nearby,
  );
  list.open = true;
  update(compaction("c1", { summary: "What was said", nearby, status: "undone" }));
  assert.equal(element.querySelector<HTMLDetailsElement>(".compaction-nearby")?.open, true);
});

for (const [action, label, expected] of [
  ["continue", "Continue", "ullage/session/continue {}"],
  ["set_key", "Set API key", "command ullage.setApiKey"],
  ["settings", "Open settings", "command ullage.openSettings"],
  ["hooks", "Show hooks", "command ullage.showInstructions"],
  ["choose_model", "Choose a model", "command ullage.selectModel"],
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

const IMAGE = { name: "docs/tank.png", words: "image, 800 × 600, 638 tokens", path: "media/ab12.png" };
const PDF = { name: "docs/tank.pdf", words: "PDF, 2 pages, about 4,600 tokens", path: "media/cd34.pdf" };

test("an image that the model was shown stands at its call, folded or not, and opens at a click", () => {
  const { element, done } = drawn(toolCall("t1", { status: "completed", media: [IMAGE, PDF] }));
  assert.equal(isOpen(element), false);
  assert.equal(element.querySelector<HTMLElement>(".media")?.hidden, false);
  button(element, IMAGE.words).click();
  button(element, PDF.words).click();
  assert.deepEqual(done, ["openFile media/ab12.png", "openFile media/cd34.pdf"]);
});

test("an image is drawn when the host has read it, and a sign stands for one that cannot be drawn", async () => {
  const { actions } = recordingActions();
  const read: string[] = [];
  const readImage = async (path: string) => {
    read.push(path);
    return { bytes: new Uint8Array([1, 2]), mediaType: "image/png" };
  };
  const call = toolCall("t1", { status: "completed", media: [IMAGE, PDF] });
  const { element } = makeItemView(call, { ...actions, readImage });
  assert.equal(element.querySelector("img"), null);
  await settle();
  const image = element.querySelector("img");
  assert.deepEqual(read, [IMAGE.path]);
  assert.match(image?.src ?? "", /^blob:/);
  image?.dispatchEvent(new window.Event("error"));
  assert.equal(element.querySelector("img"), null);
  assert.equal(element.querySelectorAll(".media .codicon-file-media").length, 1);
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

function mark(item: Item): string | null | undefined {
  return drawn(item).element.querySelector(".tool-status")?.getAttribute("aria-label");
}

for (const [item, expected] of [
  [toolCall("t1", { status: "pending", input: '{"path": "a' }), "Being written"],
  [toolCall("t1", { status: "pending", input: '{"path": "a"}' }), "Waits for its turn"],
  [toolCall("t1", { status: "running" }), "Running"],
  [toolCall("t1", { status: "failed" }), "Failed"],
  [toolCall("t1", { status: "failed", failure: "refused" }), "Refused by you"],
  [toolCall("t1", { status: "failed", failure: "not_found" }), "File not found"],
  [toolCall("t1", { status: "cancelled" }), "Stopped"],
] as const) {
  test(`a call is marked: ${expected}`, () => {
    assert.equal(mark(item), expected);
    const spins = drawn(item).element.querySelector(".tool-status")?.classList.contains("codicon-modifier-spin");
    assert.equal(spins, expected === "Being written" || expected === "Running");
  });
}

test("no two marks of calls look the same", () => {
  const items = [
    toolCall("t", { status: "completed" }),
    toolCall("t", { status: "failed" }),
    toolCall("t", { status: "failed", failure: "refused" }),
    toolCall("t", { status: "failed", failure: "not_found" }),
    toolCall("t", { status: "cancelled" }),
    toolCall("t", { status: "awaiting_permission" }),
  ];
  const icons = items.map((item) => drawn(item).element.querySelector(".tool-status")?.className.split(" ")[1]);
  assert.equal(new Set(icons).size, items.length);
});

test("how long a call and a thought took is said", () => {
  assert.equal(
    drawn(toolCall("t1", { status: "completed", seconds: 72.4 })).element.querySelector(".tool-duration")?.textContent,
    "1 min 12 s",
  );
  assert.equal(drawn(toolCall("t1", { status: "completed", seconds: 0.2 })).element.querySelector(".tool-duration")?.textContent, "");
  const { element, update } = drawn({ kind: "thinking", id: "k1", at: 1, text: "hm" });
  assert.equal(element.querySelector("summary")?.textContent, "Thinking");
  update({ kind: "thinking", id: "k1", at: 1, text: "hm", seconds: 4.2 });
  assert.equal(element.querySelector("summary")?.textContent, "Thought for 4 s");
});

test("a file that is about to be created is not offered to be opened; one that was changed opens at the change", () => {
  const diff = { path: "new.py", oldText: "", newText: "x = 1\n" };
  const { element, update } = drawn({ ...ASKING, toolKind: "edit", diff });
  assert.equal(element.querySelector(".tool-links button"), null);
  update(toolCall("t1", { status: "completed", toolKind: "edit", diff }));
  assert.ok(element.querySelector(".tool-links button"));
  const changed = drawn(
    toolCall("t2", { status: "completed", toolKind: "edit", diff: { path: "a.py", oldText: "a\nb\nc\n", newText: "a\nB\nc\n" } }),
  );
  changed.element.querySelector<HTMLButtonElement>(".tool-links button")?.click();
  assert.deepEqual(changed.done, ["openFile a.py B"]);
});

for (const [input, expected] of [
  ['{"path": "a.py", "old_text": "x", "new_text": "y\\nz"}', "Path: a.py\nOld text: x\nNew text:\ny\nz"],
  ['{"path": "a.p', "Path: a.p"],
  ['{"path": "a.py", "old_te', "Path: a.py\nOld te: "],
  ['{"path": "a.py",', "Path: a.py"],
  ["{", ""],
  ["no object", "no object"],
] as const) {
  test(`the input of a call in words: ${input}`, () => assert.equal(describeInput(input), expected));
}

test("the line of a change is found in its file", () => {
  assert.equal(lineWith("a\n  b = 1\nb\n", "b"), 2);
  assert.equal(lineWith("a\n\tb = 1\n", "b = 1"), 1);
  assert.equal(lineWith("a\n", "gone"), undefined);
  assert.equal(lineWith("a\n\n", " "), undefined);
});

test("queued prompts stand in the order in which they are sent, and can be taken back to be edited", async () => {
  const { actions, done } = recordingActions();
  const edited: string[] = [];
  const view = new QueueView(actions, ({ text }) => edited.push(text));
  const items = [user("a", { queued: true }), user("b", { queued: true, steering: true }), user("c", { queued: true })];
  view.update({ items, state: "running" } as unknown as SessionView);
  const texts = () => [...view.element.querySelectorAll(".queue-text")].map((row) => row.textContent);
  assert.deepEqual(texts(), ["prompt b", "prompt a", "prompt c"]);
  view.element.querySelector<HTMLButtonElement>('button[aria-label^="Edit"]')?.click();
  await settle();
  assert.deepEqual([done, edited], [["takeBack b"], ["prompt b"]]);
});

test("a message can be copied, and a prompt sent again", () => {
  const { element, done } = drawn(user("p1", { text: "Fix it" }));
  element.querySelector<HTMLButtonElement>(".copy")?.click();
  element.querySelector<HTMLButtonElement>(".again")?.click();
  assert.deepEqual(done, ["copy Fix it", "prompt Fix it [] queue"]);
  const withFile = drawn(user("p2", { attachments: ["a.py"] })).element;
  assert.equal(withFile.querySelector(".again"), null, "what was attached would be lost");
});

test("words that were searched for are found wherever they stand in an item", () => {
  const { element } = drawn(user("p1", { text: "The tank, the TANK and the datum" }));
  assert.deepEqual(rangesOf(element, ["tank", "datum"]).map(String), ["tank", "TANK", "datum"]);
  assert.deepEqual(rangesOf(element, ["gone"]), []);
});

for (const theme of ["dark", "light"] as const) {
  for (const [where, behind] of [
    ["the side bar", "var(--vscode-sideBar-background)"],
    ["a row under the pointer", declared(":root", "--hover") ?? ""],
  ] as const) {
    for (const name of [".added", ".removed"]) {
      test(`${name} can be read on ${where} in the ${theme} theme`, () => {
        const ratio = contrast(colour(declared(name, "color") ?? "", theme), colour(behind, theme));
        assert.ok(ratio >= 4.5, `${ratio.toFixed(2)} to 1`);
      });
    }
  }
}
