/** What is seen before there is a conversation: the sessions before this one. */

import { settle } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionSummary } from "../../client-extension/src/protocol";
import { StartScreen } from "../../client-extension/webview/startScreen";
import { INITIAL_STATE, type PanelState, reduce } from "../../client-extension/webview/state";
import { recordingActions } from "./recordingActions";
import { snapshot, user } from "./samples";

const listed = (sessionId: string, title: string): SessionSummary => ({ sessionId, title, updatedAt: Date.now() / 1000, state: "idle" });

const RUNNING: PanelState = { ...INITIAL_STATE, server: { state: "running" } };
const EMPTY = reduce(RUNNING, { type: "snapshot", snapshot: snapshot() });
const HERE = EMPTY.session?.sessionId ?? "";

async function start(sessions: readonly SessionSummary[], state = EMPTY) {
  const { actions, done } = recordingActions();
  const listing: (typeof actions)["ask"] = () => Promise.resolve({ sessions } as never);
  actions.ask = listing;
  const screen = new StartScreen(actions);
  screen.update(state);
  await settle();
  const rows = () => [...screen.element.querySelectorAll<HTMLElement>(".recent button")];
  return { screen, done, rows };
}

test("an empty session offers the sessions that were used last, but not itself nor those without a prompt", async () => {
  const { rows, done } = await start([listed(HERE, "Here"), listed("n", ""), ..."abcd".split("").map((id) => listed(id, `Fix ${id}`))]);
  assert.deepEqual(
    rows().map(({ textContent }) => textContent),
    ["Fix ajust now", "Fix bjust now", "Fix cjust now"],
  );
  rows()[1]?.click();
  assert.deepEqual(done, ["command ullage.openSession b"]);
});

test("the first start offers none, and says nothing of them", async () => {
  const { screen } = await start([listed(HERE, "")]);
  assert.equal(screen.element.querySelector<HTMLElement>(".recent")?.hidden, true);
});

test("they are gone once there is a conversation", async () => {
  const { screen, rows } = await start([listed("a", "Fix a")]);
  screen.update(reduce(RUNNING, { type: "snapshot", snapshot: snapshot({ items: [user("Hello")] }) }));
  assert.equal(rows().length, 0);
});
