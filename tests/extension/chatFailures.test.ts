/** What the server is told where a language model of VS Code fails, or says what can be none. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { countOf, failureOf, inputAsJson } from "../../client-extension/src/model/chatFailures";

/** As VS Code throws it, in whatever process it was made. */
function failed(message: string, more: { name?: string; code?: string; cause?: unknown } = {}): Error {
  return Object.assign(new Error(message), more);
}

for (const [error, reason] of [
  [failed("cannot be used", { name: "LanguageModelError", code: "NoPermissions" }), "notAllowed"],
  [failed("too many", { name: "LanguageModelError", code: "Blocked" }), "blocked"],
  [failed("unknown", { name: "LanguageModelError", code: "NotFound" }), "gone"],
  [failed("used up", { name: "ChatQuotaExceeded" }), "quota"],
  [failed("wait", { name: "ChatRateLimited" }), "busy"],
  [failed("errored", { code: "Unknown", cause: failed("used up", { name: "ChatQuotaExceeded" }) }), "quota"],
  [failed("You exceeded your current quota"), "quota"],
  [failed("Request Failed: 429 Too Many Requests"), "busy"],
  [failed("net::ERR_NETWORK_CHANGED"), "other"],
  ["a text that was thrown", "other"],
  [undefined, "other"],
] as const) {
  test(`why it failed: ${String(error)}`, () => assert.equal(failureOf(error).reason, reason));
}

test("what is said is what was said, and what caused it, once each", () => {
  assert.equal(
    failureOf(failed("It failed", { cause: failed("It failed", { cause: failed("No network") }) })).said,
    "It failed: No network",
  );
  const endless = failed("Round");
  endless.cause = endless;
  assert.equal(failureOf(endless).said, "Round");
});

test("input that is no JSON is given as it would be shown", () => {
  assert.equal(inputAsJson({ path: "a" }), '{"path":"a"}');
  assert.equal(inputAsJson(undefined), "undefined");
  assert.equal(inputAsJson(7n), "7");
});

test("a count is a whole number, or nothing", () => {
  assert.deepEqual([3, 3.4, -1, NaN, Infinity, "3", undefined].map(countOf), [3, 3, 0, 0, 0, 0, 0]);
});
