/** What is said of addresses, keys and offered models. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { refusalOfKey, addressProblem, keyProblem, LOCAL_SERVERS, offerInWords } from "../../client-extension/src/model/choices";

for (const [typed, fits] of [
  ["http://127.0.0.1:8080", true],
  [" https://models.example ", true],
  ["", false],
  ["127.0.0.1:8080", false],
  ["ftp://x", false],
  ["abc", false],
] as const) {
  test(`an address is looked at before it is tried: ${typed}`, () => assert.equal(addressProblem(typed) === undefined, fits));
}

test("a key that can be none is not accepted silently", () => {
  assert.equal(keyProblem("sk-ant-abc"), undefined);
  assert.match(keyProblem("abc") ?? "", /sk-ant-/);
  assert.match(keyProblem("sk-ant a") ?? "", /spaces/);
});

test("servers are looked for on this machine alone", () => {
  assert.ok(LOCAL_SERVERS.every(({ address }) => new URL(address).hostname === "127.0.0.1"));
});

test("an offered model says what is known of it", () => {
  const model = { name: "m", displayName: "M" };
  assert.equal(
    offerInWords({ ...model, window: 1_000_000, prices: { input: 4, output: 20 } }),
    "1M window · $4 in, $20 out per million tokens",
  );
  assert.equal(offerInWords({ ...model, window: 32_768 }), "33k window");
  assert.equal(offerInWords(model), "");
});

test("in the dialogue that asks for a key a refusal does not say how to set one", () => {
  const refused =
    'The server at http://127.0.0.1:8080 does not accept the API key (invalid key). Set the right one with the command "Ullage: Set API key…".';
  assert.equal(refusalOfKey(refused), "The server at http://127.0.0.1:8080 does not accept the API key (invalid key).");
  const gone = "The server at http://127.0.0.1:8080 cannot be reached: nothing listens there. Check the address, and that the server runs.";
  assert.equal(refusalOfKey(gone), gone);
});
