/** A session of another program is found, looked at, and gone on with. */

import assert from "node:assert/strict";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { assertHolds } from "./harness/eventually.mjs";
import { itemsOf, openPanel, sendAndFinish } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { HOME } from "./harness/surroundings.mjs";
import { resizePanel, runCommand } from "./harness/workbench.mjs";

/** @param {string} folder where its agent worked */
const lines = (folder) => {
  let number = 0;
  /** @param {string} type @param {object} more */
  const line = (type, more) => ({
    type,
    uuid: `u${(number += 1)}`,
    parentUuid: number === 1 ? null : `u${number - 1}`,
    sessionId: "s1",
    cwd: folder,
    version: "2.1.0",
    isSidechain: false,
    timestamp: `2026-02-01T10:00:${String(number).padStart(2, "0")}.000Z`,
    ...more,
  });
  /** @param {unknown} content @param {object} more */
  const user = (content, more = {}) => line("user", { message: { role: "user", content }, ...more });
  /** @param {string} id @param {unknown[]} content */
  const reply = (id, ...content) =>
    line("assistant", { message: { id, model: "claude-opus-4-5-20251101", role: "assistant", content, stop_reason: "end_turn" } });
  return [
    user("Look at tank_of_steel in tankgauge/tank.py"),
    reply("m1", { type: "tool_use", id: "t1", name: "Read", input: { file_path: join(folder, "tankgauge/tank.py") } }),
    user([{ type: "tool_result", tool_use_id: "t1", content: "tank_of_steel = 1\npump_of_brass = 2" }]),
    reply("m2", { type: "text", text: "It holds `pump_of_brass`." }),
    line("system", { subtype: "compact_boundary", compactMetadata: { trigger: "auto", preTokens: 150_000 } }),
    user("There was a pump_of_brass.", { isCompactSummary: true }),
    user("Is it of steel?"),
    reply("m3", { type: "text", text: "Yes, tank_of_steel in tankgauge/tank.py, beside the pump_of_brass." }),
    { type: "hologram", sessionId: "s1" },
  ];
};

const FILE = "s1.jsonl";
let file = "";

/** @param {string} workspace */
async function leaveOne(workspace) {
  const place = join(HOME, ".claude", "projects", workspace.replaceAll(/[^A-Za-z0-9]/gu, "-"));
  await mkdir(place, { recursive: true });
  file = join(place, FILE);
  await writeFile(
    file,
    lines(workspace)
      .map((each) => `${JSON.stringify(each)}\n`)
      .join(""),
  );
}

stage("coming-over", {}, (scenario) => {
  scenario("a session of Claude Code goes on in Ullage", { prepare: leaveOne, goesOn: true }, async ({ page, api, screenshot }) => {
    const before = await readFile(file);
    const panel = await openPanel(page);
    await runCommand(page, "Ullage: Continue a session from another program");
    const row = panel.locator(".session-row").filter({ hasText: "Look at tank_of_steel" });
    await row.waitFor();
    await screenshot("1-list");
    await row.getByRole("button").click();
    const begin = panel.getByRole("button", { name: "Go on from here" });
    await begin.waitFor();
    await panel.getByText("1 part is of a kind that Ullage does not know").waitFor();
    await panel.getByText("its summary kept 1").waitFor();
    await screenshot("2-what-it-was");
    await resizePanel(page, 300);
    await screenshot("3-narrow");
    await resizePanel(page, 440);
    await begin.click();
    await itemsOf(panel, "notice").getByText("Continued from “Look at tank_of_steel").waitFor();
    await itemsOf(panel, "assistant").getByText("beside the pump_of_brass").waitFor();
    await screenshot("4-gone-on-with");
    await api.enqueue({ say: "It is." });
    await sendAndFinish(panel, "Is it still?");
    const body = JSON.stringify((await api.calls()).at(-1)?.body.messages);
    assertHolds(body, "pump_of_brass = 2");
    assert.deepEqual(await readFile(file), before);
    await rm(file);
  });
});
