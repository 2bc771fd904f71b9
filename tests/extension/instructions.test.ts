/** The page of rules and hooks: what stands there, what can be chosen, and what is asked of the server. */

import { settle } from "./dom";
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Instructions, ShownHook } from "../../client-extension/src/protocol";
import { Sheet } from "../../client-extension/webview/history/sheet";
import { InstructionsSheet } from "../../client-extension/webview/instructions/instructionsSheet";
import { recordingActions } from "./recordingActions";

const HOOK: ShownHook = {
  id: "5b1f",
  event: "PostToolUse",
  matcher: "Edit|Write",
  command: "npx prettier --write src\nnpm test",
  path: ".claude/settings.json",
  seconds: 60,
};
const LAST = { at: 1, seconds: 0.84, why: "it went well", failed: false, tokens: 1234, times: 3 };

async function page(found: Partial<Instructions>) {
  const { actions, done } = recordingActions((method) =>
    method === "ullage/session/instructions" ? { files: [], hooks: [], passed: [], ...found } : {},
  );
  const place = new Sheet(
    () => undefined,
    () => undefined,
  );
  document.body.replaceChildren(place.element);
  new InstructionsSheet(actions, place).open();
  await settle();
  const buttons = () => [...place.element.querySelectorAll(".hook button")].map((each) => each.textContent);
  return { root: place.element, done, buttons };
}

void describe("the page of rules and hooks", () => {
  test("shows a hook with its whole command before it can be allowed", async () => {
    const { root, done, buttons } = await page({ hooks: [HOOK] });
    assert.equal(root.querySelector(".hook-command")?.textContent, HOOK.command);
    assert.match(root.querySelector(".hook")?.textContent ?? "", /PostToolUse Edit\|Write.*Not allowed yet.*\.claude\/settings\.json/s);
    assert.deepEqual(buttons(), ["Allow in the sandbox", "Allow with all rights", "Never run"]);
    root.querySelector<HTMLButtonElement>(".hook button")?.click();
    await settle();
    assert.ok(done.includes('ullage/session/decideHook {"hookId":"5b1f","runs":"sandbox"}'), done.join("\n"));
  });

  test("offers no sandbox where there is none, and says why", async () => {
    const { root, buttons } = await page({ hooks: [HOOK], noSandbox: "it is off." });
    assert.deepEqual(buttons(), ["Allow with all rights", "Never run"]);
    assert.match(root.textContent ?? "", /No sandbox confines it here: it is off\./);
  });

  test("what was decided can be taken back, and what it did last is said", async () => {
    const { root, done, buttons } = await page({ hooks: [{ ...HOOK, runs: "sandbox", last: LAST }] });
    assert.match(root.textContent ?? "", /Runs in the sandbox.*in 0\.8 seconds: it went well · 3 runs · 1,234 tokens told to the agent/s);
    assert.deepEqual(buttons(), ["Allow with all rights", "Never run", "Ask again"]);
    root.querySelector<HTMLButtonElement>(".hook button:last-of-type")?.click();
    await settle();
    assert.ok(done.includes('ullage/session/decideHook {"hookId":"5b1f"}'), done.join("\n"));
  });

  test("lists what cannot be run, why none runs, and rules, skills and commands with what they take", async () => {
    const { root } = await page({
      reason: "This workspace is not trusted, so no hook runs.",
      passed: [{ event: "Notification", command: "beep", path: ".claude/settings.json", why: "Ullage has no such event" }],
      files: [
        { kind: "rules", path: "docs/style.md", tokens: 120, why: "in force", importedBy: "CLAUDE.md", problem: "cut" },
        { kind: "skill", path: "a/SKILL.md", tokens: 31, why: "in force", name: "release" },
        { kind: "command", path: ".claude/commands/x.md", tokens: 0, why: "not in force", name: "x" },
      ],
    });
    const titles = [...root.querySelectorAll("h3")].map((title) => title.textContent);
    assert.deepEqual(titles, ["Hooks", "Rules", "Skills", "Commands"]);
    assert.equal(root.querySelector<HTMLElement>(".sheet-body")?.tabIndex, 0, "without a button in it, the keyboard can scroll it");
    const text = root.textContent ?? "";
    assert.match(text, /not trusted.*Notification beep.*Not run: Ullage has no such event/s);
    assert.match(text, /docs\/style\.mdin force · 120 tokens in every request.*Imported by CLAUDE\.md.*cut.*\/release/s);
  });
});
