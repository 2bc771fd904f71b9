/** A composer that a test writes into. */

import { settle } from "./dom";
import assert from "node:assert/strict";
import type { Snapshot } from "../../client-extension/src/protocol";
import type { Attachment } from "../../client-extension/webview/dock/attachments";
import { Composer } from "../../client-extension/webview/dock/composer";
import { INITIAL_STATE, reduce } from "../../client-extension/webview/state";
import { deferred } from "./deferred";
import { recordingActions } from "./recordingActions";
import { snapshot } from "./samples";

/**
 * A composer on a page of its own, with what it does in `done`: it is written into with `write`, and keys are pressed in it.
 *
 * @param takesPrompts whether a prompt is taken, or comes back. @param refusal why the editor gives nothing of what is named
 */
export function opened(
  changes: Partial<Snapshot> = {},
  draft = "",
  takesPrompts = true,
  attached: readonly Attachment[] = [],
  refusal?: Error,
) {
  const { actions, done } = recordingActions();
  const listed = deferred<object>();
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
  return { composer, ...typingIn(composer), done, remembered, finding, list: listed.resolve };
}

/** What a user does in a composer's box, and the options that its menu offers. */
export function typingIn(composer: Composer) {
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
  return { box, write, press, options };
}
