/** When a user who looks elsewhere is told that the agent waits or is done. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { EndedTurn } from "../../client-extension/src/protocol";
import { Attention } from "../../client-extension/src/session/attention";

const WANTED = { approval: true, done: true, sound: true };
const SILENT = { ...WANTED, sound: false };
const NONE = { notification: undefined, sound: undefined };
const ended = (stopReason: EndedTurn["stopReason"] = "end_turn"): EndedTurn => ({ promptId: "p1", stopReason });

void describe("a turn that is over", () => {
  test("is told to who looks elsewhere, with a mark until they look", () => {
    const attention = new Attention();
    assert.deepEqual(attention.turnEnded(ended(), "idle", "Fix the dip", false, WANTED), {
      notification: { text: "Ullage is done: Fix the dip", level: "info" },
      sound: "done",
    });
    assert.deepEqual(attention.badge, { value: 1, tooltip: "Ullage is done" });
    attention.looked();
    assert.equal(attention.badge, undefined);
  });

  test("is not told to who looks at it, who stopped it, or while a queued prompt follows", () => {
    const attention = new Attention();
    assert.deepEqual(attention.turnEnded(ended(), "idle", "", true, WANTED), NONE);
    assert.deepEqual(attention.turnEnded(ended("cancelled"), "idle", "", false, WANTED), NONE);
    assert.deepEqual(attention.turnEnded(ended(), "running", "", false, WANTED), NONE);
    assert.equal(attention.badge, undefined);
  });

  for (const reason of ["error", "refusal", "max_tokens", "max_turn_requests"] as const) {
    test(`for ${reason} is a warning`, () => {
      const { notification } = new Attention().turnEnded(ended(reason), "idle", "", false, SILENT);
      assert.deepEqual(notification, { text: "Ullage stopped before it was done", level: "warning" });
    });
  }

  test("only leaves its mark where no notifications are wanted", () => {
    const attention = new Attention();
    assert.deepEqual(attention.turnEnded(ended(), "idle", "", false, { ...WANTED, done: false }), NONE);
    assert.equal(attention.badge?.value, 1);
  });
});

void describe("questions that wait", () => {
  test("are counted at the icon, before anything else", () => {
    const attention = new Attention();
    attention.turnEnded(ended(), "idle", "", false, WANTED);
    attention.approvalsWait(2, false, WANTED);
    assert.deepEqual(attention.badge, { value: 2, tooltip: "2 approvals wait for you" });
    attention.approvalsWait(0, false, WANTED);
    assert.equal(attention.badge?.tooltip, "Ullage is done");
    attention.begin();
    assert.equal(attention.badge, undefined);
  });

  test("are heard once each, by who looks elsewhere and wants it", () => {
    const attention = new Attention();
    const heard = (count: number, looks = false, wanted = WANTED) => attention.approvalsWait(count, looks, wanted).sound;
    assert.equal(heard(1), "waits");
    assert.equal(heard(1), undefined);
    assert.equal(heard(2), "waits");
    assert.equal(heard(0), undefined);
    assert.equal(heard(1, true), undefined);
    assert.equal(heard(2, false, SILENT), undefined);
    assert.equal(heard(3, false, { ...WANTED, approval: false }), undefined);
  });
});
