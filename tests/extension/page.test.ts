/** The page as a whole, between the messages of the host and what stands in it. */

import { settle } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ToPanel } from "../../client-extension/webview/messages";
import { snapshot, user } from "./samples";

const nothing = () => undefined;

const prompts = () => document.querySelectorAll('.timeline [data-kind="user"]').length;

function tell(message: ToPanel): void {
  window.dispatchEvent(new window.MessageEvent("message", { data: message }));
}

test("what the host shows finds the page as the host told of it before, without a frame between", async () => {
  Object.assign(globalThis, { acquireVsCodeApi: () => ({ postMessage: nothing, getState: nothing, setState: nothing }) });
  document.body.replaceChildren();
  await import("../../client-extension/webview/main");
  tell({ type: "server", status: { state: "running" } });
  tell({ type: "snapshot", snapshot: snapshot({ items: [user("u1")] }) });
  await settle();
  assert.equal(prompts(), 1);
  tell({ type: "snapshot", snapshot: snapshot({ sessionId: "fork" }) });
  tell({ type: "show", view: { kind: "prompt", prompt: { text: "prompt u1", attachments: [] } } });
  assert.equal(document.querySelector<HTMLTextAreaElement>("textarea.prompt")?.value, "prompt u1");
  assert.equal(prompts(), 0, "the fork ends before that prompt");
});
