/** Writing and sending: keys, commands, attachments, what happens while a turn runs. */

import { settle } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Snapshot } from "../../client-extension/src/protocol";
import type { Attachment } from "../../client-extension/webview/dock/attachments";
import { Composer } from "../../client-extension/webview/dock/composer";
import { INITIAL_STATE, reduce } from "../../client-extension/webview/state";
import { colour, contrast, declared } from "./colours";
import { recordingActions } from "./recordingActions";
import { gauge, snapshot, user } from "./samples";

function deferred() {
  const parts: { done?: (value: object) => void } = {};
  const promise = new Promise<object>((done) => {
    parts.done = done;
  });
  return { promise, resolve: (value: object) => parts.done?.(value) };
}

function opened(changes: Partial<Snapshot> = {}, draft = "", takesPrompts = true, attached: readonly Attachment[] = [], refusal?: Error) {
  const { actions, done } = recordingActions();
  const listed = deferred();
  actions.ask = async () => (await listed.promise) as never;
  if (!takesPrompts) {
    actions.prompt = async () => false;
  }
  if (refusal !== undefined) {
    actions.gather = async () => Promise.reject(refusal);
  }
  const finding: { held?: Promise<object> } = {};
  actions.findFiles = async () => {
    await finding.held;
    return [{ uri: "file:///w/src/tank.py", path: "src/tank.py", open: false }];
  };
  const remembered: [string, string[]][] = [];
  const host = {
    actions,
    runSlashCommand: (command: object) => done.push(`slash ${JSON.stringify(command)}`),
    showContext: () => done.push("context"),
    focusConversation: () => undefined,
    refuse: (message: string) => done.push(`refuse ${message}`),
    sent: () => undefined,
    remember: (text: string, kept: readonly Attachment[]) => remembered.push([text, kept.map(({ name }) => name)]),
  };
  const composer = new Composer(host, draft, attached);
  composer.update(reduce(INITIAL_STATE, { type: "snapshot", snapshot: snapshot(changes) }).session, true);
  const box = composer.element.querySelector("textarea");
  assert.ok(box);
  const write = async (text: string) => {
    box.value = text;
    box.setSelectionRange(text.length, text.length);
    box.dispatchEvent(new window.Event("input"));
    await settle();
  };
  const press = async (key: string, modifiers: KeyboardEventInit = {}) => {
    box.dispatchEvent(new window.KeyboardEvent("keydown", { key, cancelable: true, ...modifiers }));
    await settle();
  };
  const options = () => [...composer.element.querySelectorAll('[role="option"] .menu-label')].map((label) => label.textContent);
  return { composer, box, write, press, options, done, remembered, finding, list: listed.resolve };
}

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

test("an attachment goes with one prompt only, and can be taken away", async () => {
  const { composer, write, press, done } = opened();
  await write("@problems");
  await press("Enter");
  composer.element.querySelector<HTMLButtonElement>('[aria-label="Detach problems"]')?.click();
  await press("Enter");
  assert.deepEqual(done, ["prompt @problems [] queue"]);
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

async function paste(box: HTMLTextAreaElement, files: File[], text = ""): Promise<Event> {
  const event = new window.Event("paste", { cancelable: true });
  Object.assign(event, { clipboardData: { files, getData: () => text } });
  box.dispatchEvent(event);
  await settle();
  return event;
}

test("of a file from outside of the editor the text is attached", async () => {
  const { box, write, press, done } = opened();
  await paste(box, [new File(["dip 42"], "dips.log", { type: "" }), new File(["x".repeat(300_000)], "long.log")]);
  await write("read it");
  await press("Enter");
  assert.deepEqual(done, [
    "refuse long.log cannot be attached this way. Images and texts can; attach files of the workspace with @.",
    'prompt read it [{"kind":"text","name":"dips.log","text":"dip 42"}] queue',
  ]);
});

test("a pasted image is attached and sent with the words", async () => {
  const { composer, box, write, press, done } = opened();
  const image = new File(["picture"], "image.png", { type: "image/png" });
  const other = new File(["no\0text"], "a.bin", { type: "application/octet-stream" });
  const event = await paste(box, [image, other]);
  assert.equal(event.defaultPrevented, true);
  assert.equal(composer.element.querySelector(".chip")?.textContent, "pasted image");
  await write("what is it?");
  await press("Enter");
  assert.deepEqual(done, [
    "refuse a.bin cannot be attached this way. Images and texts can; attach files of the workspace with @.",
    `prompt what is it? [{"kind":"pasted","data":"${btoa("picture")}"}] queue`,
  ]);
});

test("words that are pasted are pasted, whatever picture comes with them", async () => {
  const { composer, box } = opened();
  const image = new File(["picture"], "image.png", { type: "image/png" });
  assert.equal((await paste(box, [image], "a cell")).defaultPrevented, false);
  assert.equal(composer.element.querySelector(".chip"), null);
});

test("a file of the workspace that is dropped is attached", async () => {
  const { composer, box } = opened();
  const event = new window.Event("drop", { cancelable: true, bubbles: true });
  const given = new Map([["text/uri-list", "file:///w/src/my%20tank.py\r\n"]]);
  Object.assign(event, { dataTransfer: { files: [], getData: (type: string) => given.get(type) ?? "" } });
  box.dispatchEvent(event);
  await settle();
  assert.equal(event.defaultPrevented, true);
  assert.equal(composer.element.querySelector(".chip")?.textContent, "my tank.py");
});

test("in a window on a remote machine, files of that machine are attached, and of the user's own only what is in them", async () => {
  document.body.dataset["remote"] = "";
  const { composer, box, write, press, done } = opened();
  const drop = async (uris: string, files: File[]) => {
    const dataTransfer = { files, getData: (type: string) => (type === "text/uri-list" ? uris : "") };
    box.dispatchEvent(Object.assign(new window.Event("drop", { cancelable: true, bubbles: true }), { dataTransfer }));
    await settle();
  };
  try {
    await drop("vscode-remote://ssh-remote%2Bbig/w/src/my%20tank.py", []);
    await drop("file:///home/me/notes.txt", [new File(["of my own"], "notes.txt", { type: "text/plain" })]);
  } finally {
    delete document.body.dataset["remote"];
  }
  await write("look");
  await press("Enter");
  const refs = [
    { kind: "file", uri: "file:///w/src/my%20tank.py" },
    { kind: "text", name: "notes.txt", text: "of my own" },
  ];
  assert.deepEqual(done, [`prompt look ${JSON.stringify(refs)} queue`]);
  assert.equal(composer.element.querySelector(".chip"), null);
});

test("an image that is dropped keeps its name", async () => {
  const { composer, box, write, press, done } = opened();
  const dataTransfer = { getData: () => "", files: [new File(["picture"], "tank.png", { type: "image/png" })] };
  box.dispatchEvent(Object.assign(new window.Event("drop", { cancelable: true, bubbles: true }), { dataTransfer }));
  await settle();
  assert.equal(composer.element.querySelector(".chip")?.textContent, "tank.png");
  await write("what is it?");
  await press("Enter");
  assert.deepEqual(done, [`prompt what is it? [{"kind":"pasted","data":"${btoa("picture")}","name":"tank.png"}] queue`]);
});

/** Tells a place in the page of something that is dragged; whether somebody wants it. */
const drag = (place: Element | null, name: string, type = "text/uri-list") => {
  const event = new window.Event(name, { cancelable: true, bubbles: true });
  const dataTransfer = { files: [], getData: (asked: string) => (asked === type ? "file:///w/src/tank.py" : "") };
  place?.dispatchEvent(Object.assign(event, { dataTransfer, relatedTarget: null }));
  return event.defaultPrevented;
};

test("what is dropped elsewhere in the panel is attached once, and the box shows that it would be", async () => {
  const { composer } = opened();
  const panel = document.createElement("main");
  panel.append(document.createElement("p"), composer.element);
  composer.takeDrops(panel);
  const isShown = () => composer.element.classList.contains("dropping");
  assert.equal(drag(panel.querySelector("p"), "dragover"), true);
  assert.equal(isShown(), true);
  drag(panel, "dragleave");
  assert.equal(isShown(), false);
  assert.equal(drag(panel.querySelector("p"), "drop"), true);
  assert.equal(drag(panel.querySelector("textarea"), "drop"), true);
  assert.equal(drag(panel.querySelector("p"), "drop", "text/plain"), false);
  await settle();
  assert.equal(composer.element.querySelectorAll(".chip").length, 1);
});

test("a new document that is dropped is attached by its name, and what is no document is not", async () => {
  const { composer, box } = opened();
  const event = new window.Event("drop", { cancelable: true, bubbles: true });
  const given = new Map([["text/uri-list", "untitled:Untitled-1\r\nuntitled:/w/pump%20notes.md\r\ngit:/w/old.py\r\n"]]);
  Object.assign(event, { dataTransfer: { files: [], getData: (type: string) => given.get(type) ?? "" } });
  box.dispatchEvent(event);
  await settle();
  const chips = [...composer.element.querySelectorAll(".chip")];
  assert.deepEqual(
    chips.map(({ textContent }) => textContent),
    ["Untitled-1", "pump notes.md"],
  );
});

test("what is attached from outside leaves the text that is being written as it is", async () => {
  const { composer, box, write } = opened();
  await write("look at");
  composer.put({ text: "", attachments: [{ kind: "file", uri: "untitled:Untitled-2" }] });
  assert.equal(box.value, "look at");
  assert.equal(composer.element.querySelector(".chip")?.textContent, "Untitled-2");
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

test("who types fast chooses from the list of what they typed", async () => {
  const { box, write, press, options, finding } = opened();
  await write("@");
  assert.equal(options()[0], "problems");
  const found = deferred();
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
  const found = deferred();
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

test("a prompt that was not taken comes back with what was attached", async () => {
  const { composer, box, write, press } = opened({}, "", false);
  await write("see @https://a.org/x ");
  await press("Enter");
  assert.equal(box.value, "see @https://a.org/x ");
  assert.equal(composer.element.querySelectorAll(".chip").length, 1);
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
