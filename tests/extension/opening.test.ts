import assert from "node:assert/strict";
import { test } from "node:test";
import { Opening } from "../../client-extension/src/session/opening";

/** Something that ends when the test says so. */
class Gate {
  open!: () => void;
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}

const order = async (act: (opening: Opening, note: (word: string) => void) => Promise<void>): Promise<string[]> => {
  const words: string[] = [];
  await act(new Opening(), (word) => words.push(word));
  return words;
};

test("what is asked while a session is being opened waits until it is", async () => {
  const words = await order(async (opening, note) => {
    const gate = new Gate();
    const opens = opening.during(gate.opened.then(() => note("opened")));
    const asked = opening.settled().then(() => note("asked"));
    await Promise.resolve();
    note("waits");
    gate.open();
    await Promise.all([opens, asked]);
  });
  assert.deepEqual(words, ["waits", "opened", "asked"]);
});

test("an opening that fails lets it go on, and is told to who opened", async () => {
  const opening = new Opening();
  await assert.rejects(opening.during(Promise.reject(new Error("busy"))), /busy/);
  await opening.settled();
});

test("where it is opened again meanwhile, that is waited for, too", async () => {
  const words = await order(async (opening, note) => {
    const [first, second] = [new Gate(), new Gate()];
    void opening.during(first.opened);
    const asked = opening.settled().then(() => note("asked"));
    void opening.during(second.opened.then(() => note("second")));
    first.open();
    await new Promise((resolve) => setImmediate(resolve));
    note("first");
    second.open();
    await asked;
  });
  assert.deepEqual(words, ["first", "second", "asked"]);
});

/** Two that are asked for one after the other and come in an order. Gives what is shown in the end, and which were shown at all. */
async function shownOf(comes: readonly ("first" | "second")[]): Promise<string[]> {
  const opening = new Opening();
  const gates = { first: new Gate(), second: new Gate() };
  const shown: string[] = [];
  const asked = (["first", "second"] as const).map((name) =>
    opening.inOrder(
      gates[name].opened.then(() => name),
      (opened) => void shown.push(opened),
    ),
  );
  for (const name of comes) {
    gates[name].open();
    await asked[name === "first" ? 0 : 1];
  }
  return shown;
}

test("a session that comes late does not take the place of one that was asked for after it", async () => {
  assert.deepEqual(await shownOf(["first", "second"]), ["first", "second"]);
  assert.deepEqual(await shownOf(["second", "first"]), ["second"]);
});

test("one that cannot be opened takes no place, and nobody goes on trying for one when another is shown", async () => {
  const opening = new Opening();
  const gate = new Gate();
  const signal = opening.otherShown;
  const shown: string[] = [];
  const early = opening.inOrder(
    gate.opened.then(() => "early"),
    (opened) => void shown.push(opened),
  );
  await assert.rejects(
    opening.inOrder(Promise.reject(new Error("gone")), () => shown.push("gone")),
    /gone/,
  );
  assert.equal(signal.aborted, false);
  gate.open();
  assert.equal(await early, true);
  assert.deepEqual([shown, signal.aborted, opening.otherShown.aborted], [["early"], true, false]);
});
