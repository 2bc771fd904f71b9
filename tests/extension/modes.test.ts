import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionModes } from "../../client-extension/src/protocol";
import { withComments } from "../../client-extension/src/session/planComments";
import { isModeId, modeAfter } from "../../client-extension/webview/dock/choices";
import { acceptedPlan, planOf } from "../../client-extension/webview/items/toolText";

const MODES: SessionModes = {
  currentModeId: "ask",
  availableModes: [
    { id: "ask", name: "Ask", description: "" },
    { id: "plan", name: "Plan", description: "" },
    { id: "act", name: "Act", description: "" },
  ],
};

test("the next mode is the one that is offered next, and after the last the first", () => {
  assert.equal(modeAfter(MODES), "plan");
  assert.equal(modeAfter({ ...MODES, currentModeId: "act" }), "ask");
  assert.equal(modeAfter({ currentModeId: "act", availableModes: [] }), "act");
});

test("only the ids of modes are modes", () => {
  assert.deepEqual(
    ["ask", "plan", "act", "", "Act", "toString"].map((typed) => isModeId(typed)),
    [true, true, true, false, false, false],
  );
});

test("comments on a plan are told from top to bottom, with what stands there", () => {
  const comments = [
    { line: 9, quote: "3. " + "x".repeat(100), words: ["shorter"] },
    { line: 2, quote: "  1. Read  ", words: ["no", "really"] },
    { line: 4, quote: "", words: ["and this?"] },
    { line: 5, quote: "empty", words: [" "] },
  ];
  const quoted = `3. ${"x".repeat(77)}…`;
  const said = ["Line 2 (“1. Read”): no / really", "Line 4: and this?", `Line 9 (“${quoted}”): shorter`];
  assert.equal(withComments(" Not yet. ", comments), ["Not yet.", ...said].join("\n"));
  assert.equal(withComments("", []), "");
});

test("a plan is shown while it is written, and as it was accepted", () => {
  assert.equal(planOf('{"plan": "# Read\\n\\n1. One'), "# Read\n\n1. One");
  assert.equal(planOf('{"plan": "# Read"}'), "# Read");
  assert.equal(planOf("{"), "");
  assert.equal(acceptedPlan("The user accepted this plan. Carry it out:\n\n# Read\n\n1. One"), "# Read\n\n1. One");
});
