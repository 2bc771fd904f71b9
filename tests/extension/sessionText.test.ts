/** What the list of sessions says of each. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionSummary } from "../../client-extension/src/protocol";
import { descriptionOf, titleOf } from "../../client-extension/src/session/pickerText";

const SUMMARY: SessionSummary = { sessionId: "a", title: "Pumps", updatedAt: 1_000, state: "idle" };

test("a session that is open in another window is shown as such", () => {
  assert.equal(descriptionOf({ ...SUMMARY, openElsewhere: true }, false, 1_130), "open in another window · 2 min ago");
  assert.equal(descriptionOf(SUMMARY, false, 1_130), "2 min ago");
});

test("the session of this window is open, and says what it does", () => {
  assert.equal(descriptionOf({ ...SUMMARY, state: "running" }, true, 8_300), "open · $(sync~spin) running · 2 h ago");
});

test("an imported session is read only", () => {
  assert.equal(descriptionOf({ ...SUMMARY, foreign: true }, false, 1_001), "imported, read only · just now");
});

test("one without a title is new", () => {
  assert.equal(titleOf({ ...SUMMARY, title: "" }), "New session");
  assert.equal(titleOf(SUMMARY), "Pumps");
});
