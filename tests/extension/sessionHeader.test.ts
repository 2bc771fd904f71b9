/** What stands above the conversation: which session this is, where a fork comes from, and what the user should know. */

import "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Snapshot } from "../../client-extension/src/protocol";
import { offersBeside } from "../../client-extension/src/server/warningOffers";
import { Banners, SessionHeader } from "../../client-extension/webview/header";
import { INITIAL_STATE, reduce } from "../../client-extension/webview/state";
import { CHINESE } from "./chinese";
import { recordingActions } from "./recordingActions";
import { snapshot } from "./samples";

function header() {
  const { actions, done } = recordingActions();
  const drawn = new SessionHeader(actions, () => done.push("showSessions"));
  const show = (changes: Partial<Snapshot>) => {
    const { session } = reduce(INITIAL_STATE, { type: "snapshot", snapshot: snapshot(changes) });
    assert.ok(session);
    drawn.update(session);
  };
  const origin = drawn.element.querySelector<HTMLButtonElement>(".session-origin");
  assert.ok(origin);
  return { drawn, show, origin, done };
}

test("a fork says where it comes from and leads there; another session does not", () => {
  const { drawn, show, origin, done } = header();
  show({ title: "Tanks (fork)", forkedFrom: { sessionId: "s0", title: "Tanks" } });
  assert.equal(origin.hidden, false);
  assert.equal(origin.textContent, "Forked fromTanks");
  origin.click();
  assert.deepEqual(done, ["command ullage.openSession s0"]);
  show({ title: "Other" });
  assert.equal(origin.hidden, true);
  assert.match(drawn.element.textContent ?? "", /^Other/);
});

test("the original may have had no title yet", () => {
  const { show, origin } = header();
  show({ forkedFrom: { sessionId: "s0", title: "" } });
  assert.match(origin.textContent ?? "", /New session$/);
});

test("what is well again is said without a warning, and a warning that comes again is shown though it was closed before", () => {
  const banners = new Banners(recordingActions().actions);
  const shown = () => Array.from(banners.element.children, ({ className }) => className);
  const away = "The team's database db/x cannot be reached: nothing answers there.";
  banners.update({ ...INITIAL_STATE, warnings: [away] });
  assert.deepEqual(shown(), ["banner warning"]);
  (banners.element.querySelector("button") as HTMLButtonElement).click();
  assert.deepEqual(shown(), []);
  banners.update({ ...INITIAL_STATE, warnings: [], note: "The team's database is back." });
  assert.deepEqual(shown(), ["banner note"]);
  assert.equal(banners.element.textContent, "The team's database is back.");
  banners.update({ ...INITIAL_STATE, warnings: [away] });
  assert.deepEqual(shown(), ["banner warning"]);
});

/** The buttons beside a warning of the server in the panel, which are those of the notification, too. */
function buttonsBeside(warning: string): (string | null)[] {
  const banners = new Banners(recordingActions().actions);
  banners.update({ ...INITIAL_STATE, warnings: [warning] });
  const drawn = Array.from(banners.element.querySelectorAll("button.text-button, button.button"), ({ textContent }) => textContent);
  assert.deepEqual(
    drawn,
    offersBeside(warning).map(({ label }) => label),
  );
  return drawn;
}

test("a warning about a setting leads to the settings, one about an import to the import", () => {
  const bad = 'The setting "Ullage › Compaction: Cap" must be a whole number of tokens, at least 1000. Its default, 200000, is used';
  assert.deepEqual(buttonsBeside(bad), ["Open settings"]);
  assert.deepEqual(buttonsBeside("There are no such settings, so they are passed over: ullage.model.nmae"), ["Open settings"]);
  assert.deepEqual(
    buttonsBeside("They were not opened. “Ullage: Import sessions of this folder…” (or `ullage import`) lets you read them"),
    ["Import"],
  );
  const lacking =
    'Sessions in PostgreSQL need the library psycopg, which is not installed. Install it beside Ullage: pip install "ullage[postgres]"';
  assert.deepEqual(buttonsBeside(lacking), ["Install…"]);
  assert.deepEqual(buttonsBeside(CHINESE[lacking] ?? ""), ["Install…"], "in Chinese, too");
  const withheld = Object.keys(CHINESE).filter((english) => english.includes("the stored API key was given for"));
  assert.deepEqual(
    withheld.map(buttonsBeside),
    [["Set API key"], ["Set API key", "Open settings"]],
    "of the environment, and of a setting",
  );
  const brought = Object.entries(CHINESE).find(([english]) => english.startsWith("This folder brings sessions of Ullage along"));
  assert.deepEqual(buttonsBeside(brought?.[1] ?? ""), ["Import"], "in Chinese, too");
  assert.deepEqual(buttonsBeside("Files changed outside the editor are not noticed"), []);
});
