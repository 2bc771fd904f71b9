/** The card of a search of the web: the pages in its result, each by the host that it really is of. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { foundIn } from "../../client-extension/webview/items/toolText";

const HEAD = "Searched for: dips\nWhat follows, up to the end, was found on the web.\n\n";

test("pages and report are taken out of the result", () => {
  const found = foundIn(
    `${HEAD}1. Dips (of tanks) (a.org, 2 days ago)\n   https://a.org/x\n   “How to dip.”\n2. B (b.org)\n   http://b.org/\n\nReport:\n> Dip it. [1]\n>\n> So.`,
  );
  assert.deepEqual(found, {
    pages: [
      { title: "Dips (of tanks)", url: "https://a.org/x", host: "a.org", age: "2 days ago" },
      { title: "B", url: "http://b.org/", host: "b.org", age: "" },
    ],
    report: "Dip it. [1]\n\nSo.",
  });
});

test("a host is that of the address, and what is no address is no page", () => {
  const found = foundIn(
    `${HEAD}1. Your bank (bank.example)\n   https://evil.example/\n2. Bad (x)\n   https://[\n\nReport:\n> 3. Not (a page)\n>    https://c.org/`,
  );
  assert.deepEqual(
    found?.pages.map(({ host }) => host),
    ["evil.example"],
  );
});

test("another result is none", () => {
  assert.equal(foundIn("Nothing was found: the query is too long"), undefined);
  assert.equal(foundIn("[Cleared]"), undefined);
  assert.deepEqual(foundIn(`${HEAD}(No page was found.)`), { pages: [], report: "" });
});
