/** The agent's changes: their words, where they are, the tray above the prompt box, and the line at the end of a turn. */

import { settle } from "./dom";
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ChangedFile, DecidedFile, Hunk, OpenChanges, TurnChanges } from "../../client-extension/src/protocol";
import {
  changedInWords,
  checkpointInWords,
  commentPrompt,
  firstSentence,
  hunkAt,
  hunkFrom,
  leftInWords,
  linesInWords,
  shifted,
} from "../../client-extension/src/review/reviewText";
import { TurnLine } from "../../client-extension/webview/conversation/turnChanges";
import { endsOf, withOpen } from "../../client-extension/webview/conversation/turns";
import { ChangesView } from "../../client-extension/webview/dock/changes";
import { INITIAL_STATE, reduce, toKeep } from "../../client-extension/webview/state";
import { recordingActions } from "./recordingActions";
import { assistant, snapshot, toolCall, update, user } from "./samples";

const file = (path: string, changes: Partial<ChangedFile> = {}): ChangedFile => ({
  path,
  uri: `file:///work/${path}`,
  status: "modified",
  added: 3,
  removed: 1,
  ...changes,
});
const open = (...files: ChangedFile[]): OpenChanges => ({ files, count: files.length, added: 4, removed: 1 });
const hunk = (id: string, newStart: number, newLines = 1): Hunk => ({ id, oldStart: newStart, oldLines: 1, newStart, newLines });
const turn = (turnId: string): TurnChanges => ({ turnId, title: "Mend it", at: 1, files: [file("a.py")], uncovered: [] });

const many = (count: number, why: (index: number) => string): DecidedFile[] =>
  Array.from({ length: count }, (_, index) => ({ path: `${index}.py`, outcome: "conflict", why: why(index) }));

void describe("in words", () => {
  test("how many files, and how many lines", () => {
    assert.equal(changedInWords({ count: 1 }), "1 file changed");
    assert.equal(changedInWords({ count: 3 }), "3 files changed");
    assert.equal(linesInWords({ added: 24, removed: 7 }), "+24 −7");
    assert.equal(linesInWords({ added: 0, removed: 7 }), "−7");
  });

  test("only what is left is said", () => {
    assert.equal(leftInWords([{ path: "a.py", outcome: "done" }]), undefined);
    assert.match(leftInWords(many(7, (index) => `Reason ${index}`)) ?? "", /^0\.py: Reason 0\. .* And 2 more\.$/);
    assert.equal(leftInWords(many(700, () => "You stopped before it was done")), "700 files: You stopped before it was done.");
  });

  test("a comment says where it is about, with the code in a fence that the code does not end", () => {
    assert.equal(commentPrompt("a.py", 3, 3, "x = 1", "Why?"), "In a.py, line 3:\n\n```\nx = 1\n```\n\nWhy?");
    assert.match(commentPrompt("a.md", 3, 5, "```js", "Why?"), /^In a\.md, lines 3 to 5:\n\n````\n```js\n````\n/);
  });

  test("where a checkpoint leads", () => {
    assert.equal(checkpointInWords({ title: "Mend it\nand more" }), "Back to before “Mend it”");
    assert.equal(checkpointInWords({ title: "Mend it", forward: true }), "Forward again: Mend it");
    assert.equal(firstSentence("You changed this file since. It stays."), "You changed this file since");
  });
});

void describe("changes in a file", () => {
  const hunks = [hunk("a", 3, 2), hunk("b", 10, 0), hunk("c", 20)];

  test("the one at the cursor, also where lines were only removed, and at the end of the file", () => {
    assert.equal(hunkAt(hunks, 3, 20)?.id, "a");
    assert.equal(hunkAt(hunks, 4, 20), undefined);
    assert.equal(hunkAt(hunks, 9, 20)?.id, "b");
    assert.equal(hunkAt([hunk("end", 21, 0)], 19, 20)?.id, "end");
  });

  test("the next and the previous one, round and round", () => {
    assert.equal(hunkFrom(hunks, 2, 20, "next")?.id, "b");
    assert.equal(hunkFrom(hunks, 19, 20, "next")?.id, "a");
    assert.equal(hunkFrom(hunks, 9, 20, "previous")?.id, "a");
    assert.equal(hunkFrom(hunks, 0, 20, "previous")?.id, "c");
    assert.equal(hunkFrom([], 0, 20, "next"), undefined);
  });

  test("they move with the lines above them", () => {
    assert.deepEqual(
      shifted(hunks, 5, 2).map(({ newStart }) => newStart),
      [3, 12, 22],
    );
  });
});

function shown(answer: (method: string, params: object) => unknown = () => ({ files: [] })) {
  const { actions, done } = recordingActions(answer);
  const refused: string[] = [];
  const view = new ChangesView(actions, (message) => refused.push(message));
  document.body.replaceChildren(view.element);
  return { view, done, refused };
}
const buttonOf = (view: ChangesView, name: string) =>
  [...view.element.querySelectorAll("button")].find((each) => (each.getAttribute("aria-label") ?? each.textContent) === name);

void describe("the tray above the prompt box", () => {
  test("it is there while something is open, and unfolds to the files", () => {
    const { view, done } = shown();
    assert.equal(view.element.hidden, true);
    view.update(open(file("src/a.py"), file("new.md", { status: "created", note: "This file was deleted or moved since" })));
    assert.equal(view.element.hidden, false);
    assert.match(view.element.textContent ?? "", /2 files changed\+4−1/);
    assert.equal(view.element.querySelectorAll("li").length, 0);
    const toggle = view.element.querySelector<HTMLButtonElement>("[aria-expanded]");
    toggle?.click();
    assert.equal(toggle?.getAttribute("aria-expanded"), "true");
    assert.match(view.element.textContent ?? "", /This file was deleted or moved since/);
    const [first] = view.element.querySelectorAll<HTMLButtonElement>(".changed-file");
    assert.equal(first?.textContent, "Ma.py src, changed, 3 lines added, 1 removed");
    first?.click();
    assert.deepEqual(done, ["command ullage.reviewFile src/a.py"]);
    view.update(undefined);
    assert.equal(view.element.hidden, true);
  });

  test("what cannot be undone is said", async () => {
    const { view, done, refused } = shown(() => ({ files: [{ path: "src/a.py", outcome: "conflict", why: "You changed it" }] }));
    view.update(open(file("src/a.py")));
    view.element.querySelector<HTMLButtonElement>("[aria-expanded]")?.click();
    buttonOf(view, "Undo src/a.py")?.click();
    await settle();
    assert.deepEqual(done, ['ullage/session/undoChanges {"path":"src/a.py"}']);
    assert.deepEqual(refused, ["src/a.py: You changed it."]);
  });

  test("with thousands, it says how many more", () => {
    const { view } = shown();
    view.update({ ...open(file("a.py")), count: 2000 });
    view.element.querySelector<HTMLButtonElement>("[aria-expanded]")?.click();
    assert.match(view.element.textContent ?? "", /2000 files changed.*and 1999 more/);
  });
});

void describe("several turns with open changes", () => {
  const turns = [
    { turnId: "p1", title: "Mend it", files: 2 },
    { turnId: "p2", title: "Paint it", files: 1 },
  ];

  test("each is kept or undone by itself, in the list above the files", () => {
    const { view, done } = shown();
    view.update({ ...open(file("a.py")), turns });
    view.element.querySelector<HTMLButtonElement>("[aria-expanded]")?.click();
    assert.match(view.element.querySelector("ul")?.textContent ?? "", /^Paint it1 fileMend it2 files.*a\.py/);
    buttonOf(view, "Keep what “Mend it” changed")?.click();
    buttonOf(view, "Undo what “Paint it” changed")?.click();
    assert.deepEqual(done, ["command ullage.keepTurn p1", "command ullage.undoTurn p2"]);
    view.update({ ...open(file("a.py")), turns: turns.slice(1) });
    assert.doesNotMatch(view.element.querySelector("ul")?.textContent ?? "", /Paint it/);
  });

  test("the line of a turn has the buttons while something of it is open", () => {
    const { actions, done } = recordingActions(() => ({}));
    const line = new TurnLine(actions);
    const buttons = () => [...line.element.querySelectorAll("button")].map((button) => button.textContent);
    const changed = new Map([["p1", turn("p1")]]);
    line.update(withOpen(changed, { ...open(file("a.py")), turns }).get("p1"));
    assert.deepEqual(buttons(), ["Changed 1 file", "Keep", "Undo"]);
    line.element.querySelectorAll("button")[1]?.click();
    line.element.querySelectorAll("button")[2]?.click();
    assert.deepEqual(done, ["command ullage.keepTurn p1", "command ullage.undoTurn p1"]);
    line.update(withOpen(changed, open()).get("p1"));
    assert.deepEqual(buttons(), ["Changed 1 file"]);
  });

  test("a turn of which as much is open as before is not drawn anew", () => {
    const once = withOpen(new Map([["p1", turn("p1")]]), { ...open(file("a.py")), turns });
    assert.equal(withOpen(once, { ...open(file("a.py"), file("b.py")), turns }), once);
  });
});

void describe("the end of a turn", () => {
  const items = [user("p1"), toolCall("t1"), assistant("r1", "Done."), user("p2"), assistant("r2", "I see.")];

  test("is its last item, and none while it runs", () => {
    assert.deepEqual([...endsOf(items, new Map([["p1", turn("p1")]]), true).keys()], ["r1"]);
    assert.deepEqual([...endsOf(items, new Map([["p2", turn("p2")]]), false).keys()], []);
    assert.deepEqual([...endsOf(items, new Map([["p2", turn("p2")]]), true).keys()], ["r2"]);
  });

  test("a prompt that joined the turn begins none", () => {
    const steered = [user("p1"), toolCall("t1"), user("p2", { steering: true }), assistant("r2", "Done.")];
    assert.deepEqual([...endsOf(steered, new Map([["p1", turn("p1")]]), true).keys()], ["r2"]);
  });
});

test("the panel follows what is open, and keeps none of it for the next time", () => {
  let state = reduce(INITIAL_STATE, { type: "snapshot", snapshot: snapshot({ changes: open(file("a.py")) }) });
  assert.equal(state.session?.changes?.count, 1);
  state = reduce(state, { type: "update", params: update(1, { kind: "changes", changes: open(file("a.py"), file("b.py")) }) });
  assert.equal(state.session?.changes?.count, 2);
  state = reduce(state, { type: "turns", sessionId: "s1", turns: [turn("p1")] });
  assert.ok(state.session);
  assert.ok(state.session.turns.has("p1"));
  const kept = toKeep(state.session);
  assert.equal("turns" in kept || "changes" in kept, false);
});
