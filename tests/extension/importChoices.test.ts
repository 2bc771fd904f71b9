import assert from "node:assert/strict";
import test from "node:test";
import { choicesOf, type Importable, importQuestion } from "../../client-extension/src/session/pickerText";
import { labelText } from "../../client-extension/src/visible";

const SESSION = { title: "Fix the parser", updatedAt: 1_792_000_000, entries: 120, waiting: 0 };
const GONE = { folder: "/home/user/$(trash) old", sessions: 1, updatedAt: 1_791_000_000 };

function chosen(importable: Importable) {
  return choicesOf(importable).map((choice) => choice.chosen);
}

test("only what there is can be chosen", () => {
  assert.deepEqual(chosen({ brought: [], tracked: false, gone: [] }), []);
  assert.deepEqual(chosen({ brought: [SESSION], tracked: false, gone: [] }), [{}, { mine: true }]);
  assert.deepEqual(chosen({ brought: [], tracked: false, gone: [GONE] }), [{ fromGone: GONE.folder }]);
});

test("a folder's name makes no icon", () => {
  const [choice] = choicesOf({ brought: [], tracked: false, gone: [GONE] });
  assert.equal(choice?.label, labelText(GONE.folder));
  assert.notEqual(choice?.label, GONE.folder);
  assert.equal(choice?.description, "1 session of a folder that is gone, last used 2026-10-03");
});

test("the question shows what is taken, newest first, and that it came with the repository", () => {
  const old = { ...SESSION, title: "", updatedAt: 1, entries: 1, waiting: 2 };
  assert.deepEqual(importQuestion([old, SESSION], true).split("\n"), [
    "2026-10-14  Fix the parser (120 entries)",
    "1970-01-01  (no title) (1 entry, 2 prompts not sent yet)",
    "Git tracks .ullage: these sessions came with the repository. Whoever wrote it may have written them.",
    "Once they are yours, what stands in them is sent to the model as your own words.",
  ]);
  assert.match(
    importQuestion(
      Array.from({ length: 23 }, () => SESSION),
      false,
    ),
    /\nand 3 others\n/,
  );
});
