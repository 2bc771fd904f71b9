/** What a screen reader is told, and that it does not stay. */

import "./dom";
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Announcer } from "../../client-extension/webview/conversation/activity";
import type { SessionView } from "../../client-extension/webview/state";
import type { Item } from "../../client-extension/src/protocol";
import { assistant, snapshot, user } from "./samples";

function session(state: SessionView["state"], items: Item[]): SessionView {
  return {
    ...snapshot({ state, items }),
    retry: undefined,
    pins: { itemIds: [], paths: [] },
    modes: undefined,
    history: undefined,
    turns: new Map(),
  };
}

test("an answer is said when it is whole, and is gone from the page soon after", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const announcer = new Announcer();
    announcer.update(session("running", [user("p1")]));
    announcer.update(session("idle", [user("p1"), assistant("r1", "Done.")]));
    assert.equal(announcer.element.textContent, "Done.");
    mock.timers.tick(3_000);
    assert.equal(announcer.element.textContent, "");
  } finally {
    mock.timers.reset();
  }
});
