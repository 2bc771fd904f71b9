/** Whether the server may be ended with what runs in it: who is asked, how often, and what a no leaves as it was. */

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { changeEndpoint } from "../../client-extension/src/model/choices";
import { Declined, Ending } from "../../client-extension/src/session/ending";

const says = (answer: boolean) => mock.fn(() => Promise.resolve(answer));

test("several who want to know at once are answered by one answer", async () => {
  const ending = new Ending();
  const ask = says(false);
  assert.deepEqual(await Promise.all([ending.mayEnd(ask), ending.mayEnd(ask)]), [false, false]);
  assert.equal(ask.mock.callCount(), 1);
  assert.equal(await ending.mayEnd(says(true)), true, "a no is not remembered");
});

test("nothing is done where the user wants the commands to go on, and that is said", async () => {
  const ending = new Ending();
  await assert.rejects(
    ending.agreedTo(says(false), () => assert.fail("done"), "Nothing was changed."),
    (error) => error instanceof Declined && error.message === "Nothing was changed.",
  );
});

test("what is agreed to is asked once, also where it changes the key, and after it everybody is asked again", async () => {
  const ending = new Ending();
  const ofKey = says(false);
  const kept: { address: string; key: string | undefined } = { address: "http://old", key: "old" };
  const done: string[] = [];
  await ending.agreedTo(
    says(true),
    () =>
      changeEndpoint(
        {
          address: () => kept.address,
          setAddress: (address) => ((kept.address = address), Promise.resolve()),
          key: () => Promise.resolve(kept.key),
          setKey: async (key) => {
            kept.key = key;
            if (await ending.mayEnd(ofKey)) {
              done.push("restarted");
            }
          },
          stop: () => (done.push("stopped"), Promise.resolve()),
          restart: () => assert.fail("the key has it started"),
        },
        "http://new",
        "new",
      ),
    "",
  );
  assert.deepEqual([kept, ofKey.mock.callCount()], [{ address: "http://new", key: "new" }, 0]);
  assert.deepEqual(done, ["restarted", "stopped", "restarted"]);
  await assert.rejects(
    ending.agreedTo(says(true), () => Promise.reject(new Error("it failed")), ""),
    /it failed/,
  );
  assert.equal(await ending.mayEnd(ofKey), false);
});
