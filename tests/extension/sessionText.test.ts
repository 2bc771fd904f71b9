/** What the list of sessions says of each. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionSummary, WorktreeFile, WorktreeStanding } from "../../client-extension/src/protocol";
import { descriptionOf } from "../../client-extension/src/session/pickerText";
import { lostWith, matching, statusOf, titleOf, wantsAttention } from "../../client-extension/src/session/sessionRows";
import { broughtInWords, lostWithWorktree, standingInWords } from "../../client-extension/src/session/worktreeText";

const SUMMARY: SessionSummary = { sessionId: "a", title: "Pumps", updatedAt: 1_000, state: "idle" };

test("a session that is open in another window is shown as such", () => {
  assert.equal(descriptionOf({ ...SUMMARY, openElsewhere: true }, false, 1_130), "open in another window · 2 min ago");
  assert.equal(descriptionOf(SUMMARY, false, 1_130), "2 min ago");
});

test("the session of this window is open, and says what it does", () => {
  assert.equal(descriptionOf({ ...SUMMARY, state: "running" }, true, 8_300), "$(loading~spin) working · shown here · 2 h ago");
});

test("an imported session is read only", () => {
  assert.equal(descriptionOf({ ...SUMMARY, foreign: true }, false, 1_001), "imported, read only · just now");
});

test("one without a title is new", () => {
  assert.equal(titleOf({ ...SUMMARY, title: "" }), "New session");
  assert.equal(titleOf(SUMMARY), "Pumps");
});

const FULL: SessionSummary = {
  ...SUMMARY,
  figures: { status: "waiting", used: 84_210, threshold: 167_000, cost: 0.4172, files: 3, added: 24, removed: 7 },
};

test("what a session does, how full it is, what it cost and what is open of its changes", () => {
  assert.equal(descriptionOf(FULL, false, 1_130), "$(question) waits for you · $0.42 · 50% full · +24 −7 · 2 min ago");
  assert.equal(statusOf(FULL), "waiting");
  assert.equal(statusOf({ ...SUMMARY, state: "compacting" }), "working");
  assert.deepEqual(
    ["idle", "working", "waiting", "done", "failed", "interrupted"].filter((each) => wantsAttention(each as never)),
    ["waiting", "done", "failed", "interrupted"],
  );
});

test("the list is filtered by title and state, and what waits for the user stands first", () => {
  const others = [SUMMARY, { ...FULL, sessionId: "b", title: "Valves" }];
  assert.deepEqual(
    matching(others, "").map(({ sessionId }) => sessionId),
    ["b", "a"],
  );
  assert.deepEqual(
    matching(others, "PUMP").map(({ sessionId }) => sessionId),
    ["a"],
  );
  assert.deepEqual(
    matching(others, "waits").map(({ sessionId }) => sessionId),
    ["b"],
  );
  assert.deepEqual(matching(others, "pump waits"), []);
});

test("what is lost with a session is said", () => {
  assert.match(lostWith(FULL), /^It is at work: that is stopped\. .* 3 files have changes/);
  assert.match(lostWith(SUMMARY), /^The conversation is deleted for good.* No file in your folders changes\.$/);
});

const changed = (path: string, changes: Partial<WorktreeFile> = {}): WorktreeFile => ({
  path,
  uri: `file:///w/${path}`,
  homeUri: `file:///h/${path}`,
  action: "write",
  ...changes,
});
const standing = (files: WorktreeFile[], commits = 0): WorktreeStanding => ({
  worktree: { path: "/w", branch: "ullage/a1" },
  files,
  commits,
});

test("what would come back from a worktree, and what came", () => {
  assert.equal(standingInWords(standing([changed("a.py", { action: "same" })])), "nothing differs from the workspace folder");
  const both = standing([changed("a.py"), changed("b.py", { action: "same", conflict: "You and the agent changed the same lines" })]);
  assert.equal(standingInWords(both), "1 file to bring back, 1 file in conflict");
  assert.equal(broughtInWords([{ path: "a.py", outcome: "done" }]), "1 file brought back.");
  assert.match(
    broughtInWords([{ path: "b.py", outcome: "conflict", why: "You and the agent changed the same lines" }]),
    /^No file was changed\. 1 file stays as it is: b\.py \(You and the agent changed the same lines\)/,
  );
});

test("what is lost with a worktree is named before it is removed", () => {
  assert.match(lostWithWorktree(standing([])), /^All that was changed there is in the workspace folder, too\..*no commits and goes, too/);
  const many = Array.from({ length: 12 }, (_, index) => changed(`${index}.py`));
  assert.match(
    lostWithWorktree(standing(many, 2)),
    /^12 files .*: 0\.py, .*9\.py and 2 more\. .*2 commits stay in git, on the branch ullage\/a1/,
  );
  assert.match(lostWith({ ...SUMMARY, worktree: { path: "/w", branch: "b" } }), /Its worktree stays at \/w\./);
});
