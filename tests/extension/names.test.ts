/** Every control of the panel has a name that a screen reader says, whatever it shows. */

import "./dom";
import { settle } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import { ContextSheet } from "../../client-extension/webview/context/contextSheet";
import { EpochsSheet } from "../../client-extension/webview/history/epochsSheet";
import { makeItemView } from "../../client-extension/webview/items";
import { PinsView } from "../../client-extension/webview/dock/trays";
import { PreviewSheet } from "../../client-extension/webview/history/previewSheet";
import { Sheet } from "../../client-extension/webview/history/sheet";
import { INITIAL_STATE, reduce, type SessionView } from "../../client-extension/webview/state";
import { Timeline } from "../../client-extension/webview/conversation/timeline";
import { recordingActions } from "./recordingActions";
import { assistant, compaction, contextFill, epoch, fate, preview, previewLine, snapshot, toolCall, user } from "./samples";

const ITEMS = [
  user("p1"),
  assistant("r1", "```py\nx = 1\n```"),
  toolCall("t1", { status: "completed", output: "done" }),
  compaction("c1", { summary: "x" }),
];

function session(): SessionView {
  const opened = reduce(INITIAL_STATE, { type: "snapshot", snapshot: snapshot({ items: ITEMS }) });
  const { session: view } = reduce(opened, {
    type: "history",
    sessionId: "s1",
    history: { epochs: [epoch(1), epoch(2, { current: true, restored: [{ path: "a.py", note: "" }] })], fates: [fate("p1")] },
  });
  assert.ok(view);
  return view;
}

function check(name: string, draw: () => HTMLElement | Promise<HTMLElement>): void {
  test(`${name}: every control has a name`, async () => {
    const element = await draw();
    const controls = [...element.querySelectorAll<HTMLElement>("button, input, textarea, summary, [tabindex='0']")];
    assert.notEqual(controls.length, 0);
    assert.deepEqual(
      controls.filter((control) => nameOf(control) === "").map(({ outerHTML }) => outerHTML.slice(0, 120)),
      [],
    );
  });
}

function nameOf(control: HTMLElement): string {
  const label = control.id === "" ? null : control.ownerDocument.querySelector(`label[for="${control.id}"]`);
  return (control.getAttribute("aria-label") ?? label?.textContent ?? control.textContent ?? "").trim();
}

function sheet(): Sheet {
  const { actions } = recordingActions();
  const made = new Sheet(
    () => undefined,
    (itemId) => actions.showItem(itemId),
  );
  document.body.replaceChildren(made.element);
  return made;
}

check("the preview", async () => {
  const { actions } = recordingActions(() =>
    preview({ lines: [previewLine("t1")], restored: [{ path: "a.py", note: "whole" }], summary: "x" }),
  );
  const over = sheet();
  new PreviewSheet(actions, over).open("", session());
  await settle();
  return over.element;
});

check("the timeline", () => {
  const over = sheet();
  const epochs = new EpochsSheet(recordingActions().actions, over, () => undefined);
  epochs.open(session());
  epochs.update(session());
  return over.element;
});

check("the conversation", () => {
  const timeline = new Timeline(recordingActions().actions, document.createElement("div"));
  timeline.update(session());
  return timeline.element;
});

for (const item of ITEMS) {
  check(`an item of kind ${item.kind}`, () => makeItemView(item, recordingActions().actions).element);
}

check("pinned files", () => {
  const pins = new PinsView(recordingActions().actions);
  pins.update({ itemIds: [], paths: ["src/tank.py"] });
  return pins.element;
});

check("the context view", async () => {
  const { actions } = recordingActions(() => contextFill());
  const over = new Sheet(
    () => undefined,
    () => undefined,
  );
  document.body.replaceChildren(over.element);
  new ContextSheet(actions, over, () => "").open(session());
  await settle();
  const drawn = document.createElement("div");
  drawn.append(...over.element.childNodes);
  over.close(); // its clock ticks
  return drawn;
});
