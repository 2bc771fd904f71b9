/** The page as a whole, between the messages of the host and what stands in it. */

import { settle } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ToHost, ToPanel } from "../../client-extension/webview/messages";
import { snapshot, toolCall, user } from "./samples";

const sent: ToHost[] = [];

const nothing = () => undefined;

const prompts = () => document.querySelectorAll('.timeline [data-kind="user"]').length;

function tell(message: ToPanel): void {
  window.dispatchEvent(new window.MessageEvent("message", { data: message }));
}

const api = { postMessage: (message: ToHost) => sent.push(message), getState: nothing, setState: nothing };

/** A page that the tests of this file share, since its script begins once. */
let page: Promise<unknown> | undefined;

async function loaded(): Promise<void> {
  if (page === undefined) {
    Object.assign(globalThis, { acquireVsCodeApi: () => api });
    document.body.replaceChildren();
    page = import("../../client-extension/webview/main");
  }
  await page;
  tell({ type: "server", status: { state: "running" } });
}

const asks = (id: string) =>
  toolCall(id, {
    status: "awaiting_permission",
    permissionId: id,
    permission: [{ optionId: "once", name: "Allow once", kind: "allow_once" }],
  });

/** Lets the frame come that is due, and what the page does right after it: timers of one length come in their order. */
async function painted(): Promise<void> {
  await settle();
  await new Promise((done) => setTimeout(done));
}

/** Which questions were answered. */
const answered = () =>
  sent.flatMap((each) => (each.type === "request" && each.method === "ullage/permission/respond" ? [each.params] : []));

test("what the host shows finds the page as the host told of it before, without a frame between", async () => {
  await loaded();
  tell({ type: "snapshot", snapshot: snapshot({ items: [user("u1")] }) });
  await settle();
  assert.equal(prompts(), 1);
  tell({ type: "snapshot", snapshot: snapshot({ sessionId: "fork" }) });
  tell({ type: "show", view: { kind: "prompt", prompt: { text: "prompt u1", attachments: [] } } });
  assert.equal(document.querySelector<HTMLTextAreaElement>("textarea.prompt")?.value, "prompt u1");
  assert.equal(prompts(), 0, "the fork ends before that prompt");
});

test("a question that is drawn ahead of its frame is not allowed before it was painted", async () => {
  await loaded();
  tell({ type: "snapshot", snapshot: snapshot({ items: [asks("seen")] }) });
  await settle();
  tell({ type: "snapshot", snapshot: snapshot({ items: [toolCall("seen"), asks("new")] }) });
  tell({ type: "focusPrompt" });
  assert.equal(document.querySelectorAll(".approval:not(.answered)").length, 1);
  tell({ type: "answerApproval", allow: true });
  assert.deepEqual(answered(), []);
  await painted();
  tell({ type: "answerApproval", allow: true });
  assert.equal(answered().length, 1);
});
