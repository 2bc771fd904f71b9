/** What runs in the background: the line above the prompt box, the card of the call that began it, the words, and what is told once. */

import "./dom";
import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";
import type { RunningCommand, ToolCallItem } from "../../client-extension/src/protocol";
import {
  countThatEnd,
  endInWords,
  endsWith,
  Failures,
  failureInWords,
  fileNameOfCommand,
  runningInWords,
  timeOf,
} from "../../client-extension/src/session/runningText";
import { lostWith, notesOf } from "../../client-extension/src/session/sessionRows";
import { RunningView } from "../../client-extension/webview/dock/running";
import { GoesOnView } from "../../client-extension/webview/items/goesOn";
import { INITIAL_STATE, reduce, toKeep } from "../../client-extension/webview/state";
import { recordingActions } from "./recordingActions";
import { snapshot, toolCall } from "./samples";

const DEV: RunningCommand = { id: "run1", toolCallId: "t1", command: "npm run dev", began: 1000, lastLine: "ready", ports: [5173] };
const FAILED: RunningCommand = {
  id: "run2",
  toolCallId: "t2",
  command: "make",
  began: 1000,
  end: "exited",
  endedAt: 1012,
  exitCode: 2,
  failed: true,
};

const list = (...running: (number | undefined)[]) =>
  Promise.resolve({ sessions: running.map((each) => ({ figures: each === undefined ? null : { running: each } })) });

test("what ends with the server is counted over all sessions", async () => {
  assert.equal(await countThatEnd("running", () => list(2, undefined, 1), 0), 3);
  assert.equal(await countThatEnd("running", () => list(), 5), 0, "what is shown of a session may be old");
  assert.equal(await countThatEnd("running", () => Promise.reject(new Error("gone")), 5), 0);
});

test("a server that does not run is not asked, and one that does not answer is not waited for", async (context) => {
  for (const state of ["starting", "restarting", "stopped"] as const) {
    assert.equal(await countThatEnd(state, () => assert.fail("asked"), 5), 0);
  }
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const counted = countThatEnd("running", () => new Promise(() => undefined), 5);
  context.mock.timers.tick(2_000);
  assert.equal(await counted, 5);
});

let drawn: RunningView | undefined;
afterEach(() => drawn?.update([]));

function dock(...commands: RunningCommand[]) {
  const { actions, done } = recordingActions();
  const view = new RunningView(actions);
  drawn?.update([]);
  drawn = view;
  document.body.replaceChildren(view.element);
  view.update(commands);
  const named = (name: string) =>
    [...view.element.querySelectorAll("button")].find((each) => (each.getAttribute("aria-label") ?? each.textContent ?? "").includes(name));
  const toggle = view.element.querySelector<HTMLButtonElement>(".running-toggle");
  assert.ok(toggle);
  return { view, done, named, toggle, text: () => view.element.textContent ?? "" };
}

test("one line says what runs, and nothing shows where nothing does", () => {
  const { view, toggle } = dock(DEV, FAILED);
  assert.match(toggle.textContent ?? "", /1 command runs · 1 command failed/);
  assert.equal(view.element.querySelector<HTMLElement>(".running-commands")?.hidden, true);
  view.update([]);
  assert.equal(view.element.hidden, true);
  assert.equal(dock().view.element.hidden, true);
});

test("unfolded each can be stopped, opened, found and reached, by buttons with names of their own", () => {
  const { toggle, named, done, view } = dock(DEV, FAILED);
  toggle.click();
  assert.equal(toggle.getAttribute("aria-expanded"), "true");
  named("Stop npm run dev")?.click();
  named("Open the output of npm run dev")?.click();
  named("Show the call that began npm run dev")?.click();
  named("localhost:5173")?.click();
  assert.deepEqual(done, [
    'ullage/session/stopCommand {"commandId":"run1"}',
    "command ullage.showCommandOutput run1",
    "showItem t1",
    "command ullage.openCommandPort run1 5173",
  ]);
  assert.equal(named("Stop make")?.hidden, true);
  assert.match(view.element.textContent ?? "", /ended with exit code 2 after 12 s/);
  view.element.remove();
});

test("the time goes on without messages, and stops with the command", () => {
  mock.timers.enable({ apis: ["Date", "setInterval"], now: 1_005_000 });
  const { toggle, view, text } = dock(DEV);
  toggle.click();
  assert.match(text(), /npm run dev5 s/);
  mock.timers.tick(60_000);
  assert.match(text(), /npm run dev1 min 5 s/);
  view.update([{ ...DEV, end: "stopped", endedAt: 1010 }]);
  mock.timers.tick(60_000);
  assert.match(text(), /stopped after 10 s/);
  mock.timers.reset();
});

test("the focus stays where something is while commands come to their end", () => {
  const { view, toggle, named } = dock(DEV, { ...DEV, id: "run3", command: "tail -f log" });
  toggle.click();
  named("Stop npm run dev")?.focus();
  view.update([{ ...DEV, end: "exited", endedAt: 1010, exitCode: 0 }]);
  assert.ok(view.element.contains(document.activeElement));
  view.update([{ ...DEV, id: "run3", command: "tail -f log" }]);
  assert.equal(document.activeElement, toggle);
});

test("what a command says cannot turn the line around", () => {
  assert.doesNotMatch(dock({ ...DEV, command: "a\u202eb", lastLine: "x\u202ey" }).text(), /\u202e/);
});

test("it is led to by its id", () => {
  const { view } = dock(DEV);
  assert.equal(view.show("run9"), false);
  assert.equal(view.show("run1"), true);
  assert.match(document.activeElement?.textContent ?? "", /npm run dev/);
  view.element.remove();
});

function card(changes: Partial<ToolCallItem>) {
  const { actions, done } = recordingActions();
  const item: ToolCallItem = { ...toolCall("t1"), name: "bash", ...changes };
  const view = new GoesOnView(actions, item);
  view.update(item);
  const shown = [...view.element.querySelectorAll("button")].filter((each) => !each.hidden);
  return { view, done, shown };
}

test("a command that is waited for can be let go on, and no other call", () => {
  const { shown, done } = card({ status: "running" });
  assert.deepEqual(
    shown.map((each) => each.textContent),
    ["Leave it running"],
  );
  shown[0]?.click();
  assert.deepEqual(done, ['ullage/session/leaveRunning {"toolCallId":"t1"}']);
  assert.equal(card({ status: "running", name: "read_file" }).view.element.hidden, true);
  assert.equal(card({ status: "completed" }).view.element.hidden, true);
});

test("the call that began it leads to it", () => {
  const { shown, done } = card({ status: "completed", goesOn: "run1" });
  assert.deepEqual(
    shown.map((each) => each.textContent),
    ["Went on in the background as run1"],
  );
  shown[0]?.click();
  assert.deepEqual(done, ["showRunning run1"]);
});

test("the panel follows what runs, and keeps none of it for the next time", () => {
  let state = reduce(INITIAL_STATE, { type: "snapshot", snapshot: snapshot({ seq: 1, running: [DEV] }) });
  assert.deepEqual(state.session?.running, [DEV]);
  const sessionId = state.session?.sessionId ?? "";
  state = reduce(state, { type: "update", params: { sessionId, seq: 2, update: { kind: "running", commands: [FAILED] } } });
  assert.deepEqual(state.session?.running, [FAILED]);
  assert.ok(state.session);
  assert.equal(toKeep(state.session).running, undefined);
});

for (const [command, words] of [
  [DEV, ""],
  [FAILED, "ended with exit code 2"],
  [{ ...FAILED, exitCode: 0, failed: null }, "ended"],
  [{ ...FAILED, end: "late" }, "ended at its time limit"],
  [{ ...FAILED, end: "killed" }, "ended by a signal"],
  [{ ...FAILED, end: "stopped" }, "stopped"],
  [{ ...FAILED, end: "failed" }, "could not be run"],
] as const) {
  test(`how it ended: ${words || "it runs"}`, () => assert.equal(endInWords(command), words));
}

test("words of several, of time, and of a document's name", () => {
  assert.equal(runningInWords([DEV, DEV, { ...FAILED, failed: null, exitCode: 0 }]), "2 commands run · 1 command ended");
  assert.equal(timeOf(DEV, 1000), "0 s");
  assert.equal(timeOf(DEV, 1000 + 3 * 3600 + 125), "3 h 2 min");
  assert.equal(fileNameOfCommand("run1", { ...DEV, command: "FOO=1 ../x/y.sh | tail" }), "run1 FOO 1 .. x y.sh tail");
  assert.equal(failureInWords(FAILED), "In the background, make ended with exit code 2.");
});

test("each failure is told once, and those that were there before are not", () => {
  const failures = new Failures();
  failures.know("s1", [FAILED]);
  assert.deepEqual(failures.news("s1", [FAILED, DEV]), []);
  assert.deepEqual(failures.news("s2", [FAILED, DEV]), [FAILED]);
  assert.deepEqual(failures.news("s2", [FAILED]), []);
});

test("the list of sessions says what runs, and the question before a deletion what happens to it", () => {
  const summary = { sessionId: "s1", title: "Tanks", updatedAt: 0, state: "idle", figures: { status: "idle", running: 2 } } as const;
  assert.ok(notesOf(summary, false).includes("2 commands run"));
  assert.match(lostWith(summary), /2 commands run in the background: they are stopped/);
  assert.equal(endsWith(0), "");
});
