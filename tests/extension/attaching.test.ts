/** What is pasted, dropped or taken away: files, images, documents. */

import { settle } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import { opened } from "./composing";

test("an attachment goes with one prompt only, and can be taken away", async () => {
  const { composer, write, press, done } = opened();
  await write("@problems");
  await press("Enter");
  composer.element.querySelector<HTMLButtonElement>('[aria-label="Detach problems"]')?.click();
  await press("Enter");
  assert.deepEqual(done, ["prompt @problems [] queue"]);
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
