/** A sub-agent in the card of its call, and the way to its log and back. */

import "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentRun, ToolCallItem } from "../../client-extension/src/protocol";
import { SessionHeader } from "../../client-extension/webview/header";
import { AgentView, isStoppedByUser } from "../../client-extension/webview/items/agent";
import { INITIAL_STATE, reduce } from "../../client-extension/webview/state";
import { recordingActions } from "./recordingActions";
import { snapshot, toolCall } from "./samples";

const RUN: AgentRun = { sessionId: "s9", name: "explore", used: 24_100, threshold: 167_000, cost: 0.0315, doing: "Read src/tank.py" };

function card(changes: Partial<ToolCallItem>) {
  const { actions, done } = recordingActions();
  const view = new AgentView(actions);
  const update = (more: Partial<ToolCallItem>) => view.update({ ...toolCall("t1"), name: "task", ...more });
  update(changes);
  const button = (label: string) => view.element.querySelector<HTMLButtonElement>(`button[aria-label^="${label}"]`);
  return { view, update, button, done };
}

test("at work it shows how full it is, what it cost and what it does, and can be stopped", () => {
  const { view, button, done } = card({ status: "running", agent: RUN });
  assert.equal(view.element.hidden, false);
  assert.match(view.element.textContent ?? "", /14% · \$0\.03.*Read src\/tank\.py/);
  assert.equal(
    view.element.querySelector(".agent-gauge")?.getAttribute("aria-label"),
    "Context of the sub-agent explore: 14% full · 24k of 167k",
  );
  button("Stop")?.click();
  button("Open log")?.click();
  assert.deepEqual(done, ["stopAgent s9", "command ullage.openSession s9"]);
});

test("when it is over only its figures and its log stay", () => {
  const { view, update, button } = card({ status: "running", agent: RUN });
  update({ status: "completed", agent: { ...RUN, doing: null } });
  assert.equal(button("Stop")?.hidden, true);
  assert.equal(button("Open log")?.hidden, false);
  assert.equal(view.element.querySelector<HTMLElement>(".agent-doing")?.hidden, true);
});

test("before it has begun, and where there is none, nothing shows", () => {
  assert.equal(card({ status: "running" }).view.element.hidden, true);
});

test("what a model wrote as its name cannot turn the line around", () => {
  const { view } = card({ status: "running", agent: { ...RUN, doing: "Read \u202etxt.exe" } });
  assert.doesNotMatch(view.element.textContent ?? "", /\u202e/);
});

test("its log says what it is and leads back", () => {
  const { actions, done } = recordingActions();
  const header = new SessionHeader(actions, () => undefined);
  const { session } = reduce(INITIAL_STATE, { type: "snapshot", snapshot: snapshot({ agentOf: "s1" }) });
  assert.ok(session);
  header.update(session);
  const back = [...header.element.querySelectorAll("button")].find((each) => each.textContent?.includes("Log of a sub-agent"));
  assert.equal(back?.hidden, false);
  back?.click();
  assert.deepEqual(done, ["command ullage.openSession s1"]);
});

test("one that the user stopped did not fail, whatever a report says", () => {
  assert.equal(
    isStoppedByUser("There is no report of the sub-agent “explore”: the user stopped it. It had said by then:\n> I begin."),
    true,
  );
  assert.equal(isStoppedByUser("There is no report of the sub-agent “explore”: it failed.\n> the user stopped it."), false);
});
