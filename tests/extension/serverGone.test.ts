/** A request whose server ended is told from one that was refused. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { answered, ServerGone, settlesWithin } from "../../client-extension/src/server/answers";

const refused = Object.assign(new Error("There is nothing to undo"), { code: -32050 });
const disposed = Object.assign(new Error("Pending response rejected since connection got disposed"), { code: -32097 });

test("an answer is given on", async () => assert.equal(await answered(Promise.resolve(4), () => true), 4));

test("a refusal is given on", () =>
  assert.rejects(
    answered(Promise.reject(refused), () => true),
    refused,
  ));

test("where the connection ended, the server is gone", () =>
  assert.rejects(
    answered(Promise.reject(disposed), () => true),
    ServerGone,
  ));

test("where another server runs by now, the one that was asked is gone", () =>
  assert.rejects(
    answered(Promise.reject(refused), () => false),
    ServerGone,
  ));

test("what is soon over need not say that it goes on, well or not", async () => {
  assert.equal(await settlesWithin(Promise.resolve(), 60_000), true);
  assert.equal(await settlesWithin(Promise.reject(new Error("refused")), 60_000), true);
  assert.equal(await settlesWithin(new Promise(() => undefined), 1), false);
});
