/** What the panel does with a refusal, and where it offers a way out. */

import "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import { createActions, type Actions, type WayOut } from "../../client-extension/webview/actions";
import { Cards } from "../../client-extension/webview/dock/cards";
import { Refused, type Host } from "../../client-extension/webview/host";
import { settle } from "./dom";

interface Played {
  actions: Actions;
  asked: string[];
  shown: { message: string; wayOut: WayOut | undefined }[];
}

function played(refusal: Error): Played {
  const asked: string[] = [];
  const shown: Played["shown"] = [];
  const request = async (method: string, params: object) => {
    asked.push(`${method} ${JSON.stringify(params)}`);
    if (!("fit" in params)) {
      throw refusal;
    }
    return {};
  };
  const actions = createActions({
    host: { request } as unknown as Host,
    sessionId: () => "s1",
    showError: (message, wayOut) => shown.push({ message, wayOut }),
    loadEarlier: () => undefined,
    firstChangeFrom: () => undefined,
    keptAnswer: () => undefined,
    keepAnswer: () => undefined,
    showRunning: () => false,
    showItem: () => undefined,
  });
  return { actions, asked, shown };
}

for (const [verb, reason, label] of [
  ["undo", "does_not_fit", "Undo, and clear old results"],
  ["redo", "does_not_fit", "Redo, and clear old results"],
  ["undo", "fits_only_cut", "Undo, and cut old messages"],
  ["redo", "fits_only_cut", "Redo, and cut old messages"],
] as const) {
  test(`where ${verb} is refused with ${reason} it offers "${label}", and does it`, async () => {
    const { actions, asked, shown } = played(new Refused("It would then hold too much.", reason));
    assert.equal(await actions.send(`ullage/session/${verb}Compaction`, { compactionId: "c1" }), false);
    const cards = new Cards();
    cards.showError(shown[0]?.message ?? "", shown[0]?.wayOut);
    assert.match(cards.element.textContent ?? "", /It would then hold too much/);
    const offer = [...cards.element.querySelectorAll("button")].find(({ textContent }) => textContent === label);
    offer?.click();
    await settle();
    assert.equal(cards.element.childElementCount, 0);
    assert.deepEqual(asked, [
      `ullage/session/${verb}Compaction {"compactionId":"c1","sessionId":"s1"}`,
      `ullage/session/${verb}Compaction {"compactionId":"c1","fit":true,"sessionId":"s1"}`,
    ]);
  });
}

test("any other refusal offers nothing but its message", async () => {
  const { actions, shown } = played(new Refused("There is no compaction to undo", "nothing_to_undo"));
  await actions.send("ullage/session/undoCompaction", {});
  assert.deepEqual(shown, [{ message: "There is no compaction to undo", wayOut: undefined }]);
});

test("what does not fit elsewhere is no undo", async () => {
  const { actions, shown } = played(new Refused("No", "does_not_fit"));
  await actions.send("ullage/session/compact", {});
  assert.equal(shown[0]?.wayOut, undefined);
});
