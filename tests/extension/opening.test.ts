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
