/** Searching and naming: what the host decides without VS Code. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { nameOfFile } from "../../client-extension/src/files/places";
import { hitTexts, NewestOnly } from "../../client-extension/src/session/pickerText";
import { reasonOf } from "../../client-extension/src/server/answers";
import { deferred, type Deferred } from "./deferred";

function settle(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}

test("while one search runs only the newest of the next is asked for, and only its answer taken", async () => {
  const asked = new Map<string, Deferred<string>>();
  const taken: unknown[] = [];
  const search = new NewestOnly(
    (words: string) => {
      const answer = deferred<string>();
      asked.set(words, answer);
      return answer.promise;
    },
    (answer, error) => taken.push(answer ?? (error as Error).message),
  );
  for (const words of ["d", "da", "dat", "datum"]) {
    search.put(words);
  }
  assert.deepEqual([...asked.keys()], ["d"]);
  asked.get("d")?.resolve("for d");
  await settle();
  assert.deepEqual([...asked.keys()], ["d", "datum"]);
  asked.get("datum")?.resolve("for datum");
  await settle();
  search.put("x");
  asked.get("x")?.reject(new Error("gone"));
  await settle();
  assert.deepEqual(taken, ["for datum", "gone"]);
});

const HIT = {
  sessionId: "s1",
  sessionTitle: "Fix the test",
  itemId: "t1",
  at: 1_795_200_000,
  what: "result of bash",
  excerpt: "1 failed,\n12 passed",
};

test("a hit shows what was said, what it is and where", () => {
  const { label, detail, icon } = hitTexts(HIT, "failed");
  assert.deepEqual([label, icon], ["1 failed, 12 passed", "tools"]);
  assert.match(detail, /^result of bash · .*2026.* · Fix the test$/);
  assert.match(hitTexts({ ...HIT, what: "user", sessionTitle: "" }, "failed").detail, /^you · .* · New session$/);
});

test("a word that is far in a hit is brought to where it is seen", () => {
  const excerpt = "The strapping table of the north tank is read in millimetres, and the datum plate lies 14 mm above the floor.";
  assert.equal(hitTexts({ ...HIT, excerpt }, "DATUM plate").label, "… millimetres, and the datum plate lies 14 mm above the floor.");
  assert.equal(hitTexts({ ...HIT, excerpt }, "datum strapping").label, excerpt);
  assert.equal(hitTexts({ ...HIT, excerpt }, "elsewhere").label, excerpt);
  assert.equal(hitTexts({ ...HIT, excerpt: `${"x".repeat(80)}datum` }, "datum").label, "… datum");
});

test("what looks like an icon in a hit stays text", () => {
  assert.equal(hitTexts({ ...HIT, excerpt: "echo $(trash) $(sync~spin)" }, "echo").label, "echo \\$(trash) \\$(sync~spin)");
});

function checkName(path: string, folders: string[], expected: string | undefined): void {
  test(`${path} in ${folders.join(", ")} is ${String(expected)}`, () => assert.equal(nameOfFile(path, folders), expected));
}

checkName("/work/tanks/src/tank.py", ["/work/tanks"], "src/tank.py");
checkName("/work/gauges/gauge.py", ["/work/tanks", "/work/gauges"], "/work/gauges/gauge.py");
checkName("/work/tanks/..tank.py", ["/work/tanks"], "..tank.py");
checkName("/work/tanks-old/tank.py", ["/work/tanks"], undefined);
checkName("/work/tanks", ["/work/tanks"], undefined);
checkName("/etc/hosts", ["/work/tanks"], undefined);
checkName("/etc/hosts", [], undefined);

test("the reason of a refusal is the server's, and of nothing else", () => {
  assert.equal(reasonOf({ code: -32050, data: { reason: "does_not_fit" } }), "does_not_fit");
  for (const other of [{ code: -32602, data: { reason: "does_not_fit" } }, { code: -32050 }, new Error("x"), undefined, null]) {
    assert.equal(reasonOf(other), undefined);
  }
});
