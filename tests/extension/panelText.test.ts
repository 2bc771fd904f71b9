/** Pure parts of the panel: diffs, tool texts, compaction texts, history, file ranking. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { rankFiles } from "../../client-extension/src/files/fileFacts";
import { compactionFacts, compactionReason, compactionSizes, compactionTitle } from "../../client-extension/webview/history/compactionText";
import { commandOf, describeInput, plainOutput, proposedDiff } from "../../client-extension/webview/items/toolText";
import { countChanges, diffLines } from "../../client-extension/webview/items/diff";
import { PromptHistory } from "../../client-extension/webview/dock/typing";
import { compaction } from "./samples";

const SIGNS = { same: " ", added: "+", removed: "-", gap: "…" };

function checkDiff(name: string, oldText: string, newText: string, expected: string[]): void {
  test(name, () => {
    assert.deepEqual(
      diffLines(oldText, newText).map(({ kind, text }) => `${SIGNS[kind]}${text}`),
      expected,
    );
  });
}

checkDiff("no change, no lines", "a\nb\n", "a\nb\n", []);
checkDiff("a changed line between its neighbours", "a\nb\nc\n", "a\nB\nc\n", [" a", "-b", "+B", " c"]);
checkDiff("a new file", "", "a\nb\n", ["+a", "+b"]);
checkDiff("an emptied file", "a\n", "", ["-a"]);
checkDiff("two changes far apart have a gap between them", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n", [
  "-1",
  "+one",
  " 2",
  " 3",
  " 4",
  "…",
  " 6",
  " 7",
  " 8",
  "-9",
  "+nine",
]);
checkDiff("line ends are no change", "a\r\nb\r\n", "a\nb\n", []);

test("changed lines are counted", () => {
  assert.deepEqual(countChanges(diffLines("a\nb\nc\n", "a\nx\ny\nc\n")), { added: 2, removed: 1 });
});

function many(letter: string): string {
  return Array.from({ length: 20_000 }, (_, index) => `${letter}${index}`).join("\n");
}

test("two large texts with nothing in common do not take long", () => {
  assert.deepEqual(countChanges(diffLines(many("a"), many("b"))), { added: 20_000, removed: 20_000 });
});

test("a tool's input is shown key by key, also while it is being written", () => {
  assert.equal(describeInput('{"path": "a.py", "limit": 3, "text": "x\\ny"}'), "Path: a.py\nLimit: 3\nText:\nx\ny");
  assert.equal(describeInput('{"path": "a'), "Path: a");
  assert.equal(commandOf('{"command": "ls -l"}'), "ls -l");
  assert.equal(commandOf('{"path": "a.py"}'), undefined);
  assert.equal(commandOf("[]"), undefined);
});

test("what an edit would do is read from its input", () => {
  const edit = '{"path": "a.py", "old_text": "x", "new_text": "y"}';
  assert.deepEqual(proposedDiff(edit), { path: "a.py", oldText: "x", newText: "y" });
  assert.deepEqual(proposedDiff('{"path": "a.py", "content": "all"}'), { path: "a.py", oldText: "", newText: "all" });
  assert.equal(proposedDiff('{"path": "a.py", "old_text": "x"'), undefined);
  assert.equal(proposedDiff('{"command": "ls"}'), undefined);
});

test("output has no terminal sequences and no overwritten progress", () => {
  assert.equal(plainOutput("\u001b[31mred\u001b[0m\r\nend\n"), "red\nend\n");
  assert.equal(plainOutput("10%\r20%\r100%\ndone\n"), "100%\ndone\n");
  assert.equal(plainOutput("\u001b]0;title\u0007text"), "text");
});

test("a compaction says why, how and what it saved", () => {
  const done = compaction("c1", { trigger: "threshold", way: "program", summarised: 96, cleared: 1, cost: 0.042, focus: "tests" });
  assert.equal(compactionTitle(done), "Compacted");
  assert.equal(compactionSizes(done), "142k → 38k tokens");
  assert.equal(compactionReason(done), "Context full: compacted automatically · Summary written from the log, without a model");
  assert.deepEqual(compactionFacts(done), ["96 messages summarised", "1 tool result set aside", "Focus: tests", "Cost: $0.04"]);
});

test("a compaction that was stopped, or found nothing to do, has not failed", () => {
  const none = compaction("c1", { status: "cancelled", tokensAfter: undefined });
  assert.equal(compactionTitle({ ...none, error: "" }), "Compaction stopped");
  assert.equal(compactionTitle({ ...none, error: "There is nothing to compact" }), "Not compacted");
  assert.equal(compactionTitle({ ...none, status: "failed", error: "No network" }), "Compaction failed");
});

test("what the user took out is called so, and no compaction", () => {
  const byHand = compaction("c1", { policy: "user", way: "moves", cleared: 1 });
  assert.equal(compactionTitle(byHand), "Excluded");
  assert.equal(compactionReason(byHand), "The model no longer sees what you excluded");
  assert.deepEqual(compactionFacts(byHand), []);
  assert.equal(compactionTitle({ ...byHand, status: "undone" }), "Included again");
  const file = { ...byHand, excludedFiles: ["src/tank.py"] };
  assert.equal(compactionReason(file), "The model no longer sees the text of src/tank.py, except what it wrote itself");
  assert.equal(compactionReason({ ...file, status: "undone" }), "src/tank.py is no longer excluded");
});

test("a compaction that failed claims no sizes", () => {
  assert.equal(compactionSizes(compaction("c1", { status: "failed" })), "");
  assert.equal(compactionSizes(compaction("c1", { status: "in_progress", tokensAfter: null })), "");
});

test("earlier prompts come back, and so does the draft", () => {
  const history = new PromptHistory();
  history.setEntries(["one", "two"]);
  assert.equal(history.earlier("draft"), "two");
  assert.equal(history.isShowing("two"), true);
  assert.equal(history.earlier("two"), "one");
  assert.equal(history.earlier("one"), undefined);
  assert.equal(history.later(), "two");
  assert.equal(history.later(), "draft");
  assert.equal(history.later(), undefined);
});

test("a walk through the history goes on when prompts are added", () => {
  const history = new PromptHistory();
  history.setEntries(["one", "two"]);
  history.earlier("");
  history.setEntries(["zero", "one", "two"]);
  assert.equal(history.earlier("two"), "one");
});

function checkRank(query: string, expected: string[]): void {
  const files = ["src/tank.py", "src/stank.py", "tank/other.py", "tests/test_tank.py", "README.md"].map((path) => ({
    path,
    open: path === "README.md",
  }));
  test(`files for @${query}`, () => {
    assert.deepEqual(
      rankFiles(query, files, 10).map(({ path }) => path),
      expected,
    );
  });
}

checkRank("tank", ["src/tank.py", "src/stank.py", "tests/test_tank.py", "tank/other.py"]);
checkRank("TEST", ["tests/test_tank.py"]);
checkRank("stpy", ["src/tank.py", "src/stank.py", "tests/test_tank.py"]);
checkRank("", ["README.md", "src/tank.py", "src/stank.py", "tank/other.py", "tests/test_tank.py"]);
checkRank("nothing", []);
