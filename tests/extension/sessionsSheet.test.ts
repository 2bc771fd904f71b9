/** The list of sessions in the panel: what it shows, how it follows, and its keys. */

import { settle } from "./dom";
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { SessionSummary } from "../../client-extension/src/protocol";
import { firstChangeFrom } from "../../client-extension/webview/conversation/turns";
import { Sheet } from "../../client-extension/webview/history/sheet";
import { SessionHeader } from "../../client-extension/webview/header";
import { SessionsSheet } from "../../client-extension/webview/sessions/sessionsSheet";
import { INITIAL_STATE, reduce } from "../../client-extension/webview/state";
import { recordingActions } from "./recordingActions";
import { assistant, snapshot, user } from "./samples";

const focused = () => document.activeElement?.closest<HTMLElement>("[data-session-id]")?.dataset.sessionId;

const press = (key: string) =>
  document.activeElement?.dispatchEvent(new window.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

const session = (sessionId: string, changes: Partial<SessionSummary> = {}): SessionSummary => ({
  sessionId,
  title: `Session ${sessionId}`,
  updatedAt: 1_000,
  state: "idle",
  ...changes,
});

const WAITING = session("b", { figures: { status: "waiting", used: 50, threshold: 100, cost: 0.5, files: 2, added: 3, removed: 1 } });

async function sheet(...sessions: SessionSummary[]) {
  const { actions, done } = recordingActions();
  const errors: string[] = [];
  const listing: (typeof actions)["ask"] = () => Promise.resolve({ sessions } as never);
  actions.ask = listing;
  const place = new Sheet(
    () => undefined,
    () => undefined,
  );
  document.body.replaceChildren(place.element);
  const shown = new SessionsSheet(actions, place, (message) => errors.push(message));
  shown.open("a");
  await settle();
  const rows = () => [...place.element.querySelectorAll<HTMLElement>("[data-session-id]")];
  const ids = () => rows().map((row) => row.dataset.sessionId);
  return { shown, place, done, rows, ids };
}

void describe("the list of sessions", () => {
  test("says of each what it does, what it cost, how full it is and what is open", async () => {
    const { rows, ids } = await sheet(session("a"), WAITING);
    assert.deepEqual(ids(), ["b", "a"]);
    const text = rows()[0]?.textContent ?? "";
    assert.match(text, /Session b.*waits for you · \$0\.50 · 50% full · 2 files.*\+3.*−1/s);
    assert.match(rows()[1]?.textContent ?? "", /shown here/);
  });

  test("says how full a session is by the same number as its gauge", async () => {
    const { rows } = await sheet(session("a", { figures: { status: "idle", used: 7_067, threshold: 200_000 } }));
    assert.match(rows()[0]?.textContent ?? "", /3% full/);
  });

  test("follows what is told, and the rows stay where they are", async () => {
    const { shown, rows, ids } = await sheet(session("a"), WAITING);
    shown.figures("a", { status: "failed" });
    assert.deepEqual(ids(), ["b", "a"]);
    assert.match(rows()[1]?.textContent ?? "", /failed/);
    shown.figures("gone", { status: "done" });
  });

  test("is used with the keyboard alone", async () => {
    const { ids, done, place } = await sheet(session("a"), WAITING, session("c"));
    press("ArrowDown");
    assert.equal(focused(), "b");
    press("End");
    assert.equal(focused(), "c");
    press("F2");
    press("Delete");
    press("ArrowUp");
    assert.equal(focused(), "a");
    press("Home");
    press("ArrowUp");
    assert.equal(focused(), undefined);
    const filter = place.element.querySelector<HTMLInputElement>("input");
    assert.ok(filter);
    filter.value = "session c";
    filter.dispatchEvent(new window.Event("input"));
    assert.deepEqual(ids(), ["c"]);
    press("Enter");
    assert.deepEqual(done, ["command ullage.renameSession c", "command ullage.deleteSession c", "command ullage.openSession c"]);
    assert.equal(place.shows, undefined);
  });

  test("shows the first of very many at once, and the others when asked", async () => {
    const { rows, place } = await sheet(...Array.from({ length: 1_000 }, (_, index) => session(String(index))));
    assert.equal(rows().length, 200);
    [...place.element.querySelectorAll("button")].find(({ textContent }) => textContent?.startsWith("Show 200 more of 800"))?.click();
    assert.equal(rows().length, 400);
  });
});

test("the header counts the other sessions that want the user", () => {
  const { actions } = recordingActions();
  const header = new SessionHeader(actions, () => undefined);
  let state = reduce(INITIAL_STATE, { type: "snapshot", snapshot: snapshot() });
  for (const [sessionId, status] of [
    ["s1", "done"],
    ["s2", "waiting"],
    ["s3", "failed"],
    ["s3", "idle"],
  ] as const) {
    state = reduce(state, { type: "figures", sessionId, figures: { status } });
  }
  assert.ok(state.session);
  header.update(state.session, state.others);
  const count = header.element.querySelector<HTMLElement>(".session-others");
  assert.equal(count?.dataset.count, "1");
  assert.equal(count?.dataset.status, "waiting");
  assert.equal(reduce(state, { type: "figures", sessionId: "s2", figures: { status: "waiting", cost: 1 } }), state);
});

test("with a prompt the files go back to the first turn that changed some, from it on", () => {
  const turn = { turnId: "p3", title: "", at: 1, files: [], uncovered: [] };
  const items = [user("p1"), assistant("a1", "x"), user("p2"), user("p3")];
  assert.equal(firstChangeFrom(items, new Map([["p3", turn]]), "p2"), "p3");
  assert.equal(firstChangeFrom(items, new Map([["p1", turn]]), "p2"), undefined);
});
