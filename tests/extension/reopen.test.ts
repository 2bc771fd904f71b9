import assert from "node:assert/strict";
import { test } from "node:test";
import { reopen } from "../../client-extension/src/session/opening";
import { sentence } from "../../client-extension/src/visible";
import { snapshot } from "./samples";

function refusal(reason: string): Error {
  return Object.assign(new Error(`refused: ${reason}`), { code: -32050, data: { reason } });
}

/** A server that answers an open of the remembered session with these errors, one after the other, and then opens it. */
async function check(errors: Error[]): Promise<{ opened: string; passedOver: string | undefined; asked: number }> {
  const left = [...errors];
  let asked = 0;
  const open = async (sessionId: string | undefined) => {
    asked += 1;
    const error = sessionId === undefined ? undefined : left.shift();
    if (error !== undefined) {
      throw error;
    }
    return snapshot({ sessionId: sessionId ?? "recent" });
  };
  const { snapshot: found, passedOver } = await reopen(
    open,
    async () => snapshot({ sessionId: "new" }),
    "remembered",
    async () => undefined,
  );
  return { opened: found.sessionId, passedOver, asked };
}

test("the session of the last time is opened", async () => {
  assert.deepEqual(await check([]), { opened: "remembered", passedOver: undefined, asked: 1 });
});

test("one that the old window still holds is waited for", async () => {
  const busy = refusal("session_busy");
  assert.deepEqual(await check([busy, busy, busy]), { opened: "remembered", passedOver: undefined, asked: 4 });
});

test("in the place of one that another window has, a new one is started, and no unrelated one opened", async () => {
  const result = await check(Array.from({ length: 100 }, () => refusal("session_busy")));
  assert.deepEqual([result.opened, result.passedOver], ["new", "refused: session_busy"]);
  assert.ok(result.asked < 100);
});

test("one that is gone is passed over at once and without a word", async () => {
  assert.deepEqual(await check([refusal("unknown_session")]), { opened: "recent", passedOver: undefined, asked: 2 });
});

test("an error that the server did not mean for the user is not hidden by another session", async () => {
  await assert.rejects(check([new Error("connection closed")]), /connection closed/);
});

test("without a session of the last time the server chooses", async () => {
  const asked: (string | undefined)[] = [];
  const open = async (sessionId: string | undefined) => {
    asked.push(sessionId);
    return snapshot();
  };
  await reopen(
    open,
    async () => snapshot({ sessionId: "new" }),
    undefined,
    async () => undefined,
  );
  assert.deepEqual(asked, [undefined]);
});

test("a message of the server ends with one full stop", () => {
  assert.deepEqual(["It is busy", "It is busy.", " Is it busy? "].map(sentence), ["It is busy.", "It is busy.", "Is it busy?"]);
});
