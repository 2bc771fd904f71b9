/** The panel as a whole: what its parts do to one another. */

import { settle } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Cards } from "../../client-extension/webview/dock/cards";
import { Panel } from "../../client-extension/webview/panel";
import { INITIAL_STATE, reduce } from "../../client-extension/webview/state";
import { recordingActions } from "./recordingActions";
import { snapshot } from "./samples";

for (const [typed, title] of [
  ["/web on", undefined],
  ["/rules", "Rules and hooks"],
] as const) {
  test(`what a command says does not lie below the sheet that was open: ${typed}`, async () => {
    const { actions } = recordingActions(() => ({ sessions: [], hooks: [], passed: [], files: [] }));
    const panel = new Panel({
      actions,
      cards: new Cards(),
      remembered: { draft: "", attached: [] },
      remember: () => undefined,
      readsEpochs: () => undefined,
    });
    document.body.replaceChildren(panel.element);
    panel.update(reduce({ ...INITIAL_STATE, server: { state: "running" } }, { type: "snapshot", snapshot: snapshot() }));
    panel.show({ kind: "sessions" });
    const shown = () => [...panel.element.querySelectorAll<HTMLElement>(".sheet:not([hidden]) h2")].map(({ textContent }) => textContent);
    assert.deepEqual(shown(), ["Sessions"]);
    const box = panel.element.querySelector<HTMLTextAreaElement>("textarea.prompt");
    assert.ok(box !== null);
    box.value = typed;
    box.dispatchEvent(new window.Event("input", { bubbles: true }));
    box.dispatchEvent(new window.KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    await settle();
    assert.deepEqual(shown(), title === undefined ? [] : [title]);
  });
}
