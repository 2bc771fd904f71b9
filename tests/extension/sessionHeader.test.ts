/** The line above the conversation: which session this is, and where a fork comes from. */

import "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Snapshot } from "../../client-extension/src/protocol";
import { SessionHeader } from "../../client-extension/webview/header";
import { INITIAL_STATE, reduce } from "../../client-extension/webview/state";
import { recordingActions } from "./recordingActions";
import { snapshot } from "./samples";

function header() {
  const { actions, done } = recordingActions();
  const drawn = new SessionHeader(actions);
  const show = (changes: Partial<Snapshot>) => {
    const { session } = reduce(INITIAL_STATE, { type: "snapshot", snapshot: snapshot(changes) });
    assert.ok(session);
    drawn.update(session);
  };
  const origin = drawn.element.querySelector<HTMLButtonElement>(".session-origin");
  assert.ok(origin);
  return { drawn, show, origin, done };
}

test("a fork says where it comes from and leads there; another session does not", () => {
  const { drawn, show, origin, done } = header();
  show({ title: "Tanks (fork)", forkedFrom: { sessionId: "s0", title: "Tanks" } });
  assert.equal(origin.hidden, false);
  assert.equal(origin.textContent, "Forked fromTanks");
  origin.click();
  assert.deepEqual(done, ["command ullage.openSession s0"]);
  show({ title: "Other" });
  assert.equal(origin.hidden, true);
  assert.match(drawn.element.textContent ?? "", /^Other/);
});

test("the original may have had no title yet", () => {
  const { show, origin } = header();
  show({ forkedFrom: { sessionId: "s0", title: "" } });
  assert.match(origin.textContent ?? "", /New session$/);
});
