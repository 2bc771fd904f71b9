/**
 * How the panel looks: in the colours of each theme, zoomed, from right to left, and with motion reduced. One window goes through all of them with
 * one conversation in it; nothing may be cut off, and axe must find nothing in any. How it looks in Chinese stands in `chinese.test.mjs`.
 */

import assert from "node:assert/strict";
import { expectEventually } from "./harness/eventually.mjs";
import { answerApproval, approval, itemsOf, openPanel, sendPrompt, turnIsOver } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { resizePanel, WINDOW } from "./harness/workbench.mjs";

const FILE = "tankgauge/tank.py";
const ANSWER = `The tank holds **12 litres**. What I found:

| file | lines | covered |
|---|--:|---|
| \`tank.py\` | 41 | yes |
| \`report.py\` | 63 | no |

1. The threshold is in [tank.py](${FILE}).
2. The report rounds it.

\`\`\`python
def ullage(self) -> float:
    return self.capacity - self.level  # what is left
\`\`\``;
const PROMPT = "How much does the tank hold?";
const READ = { call: "read_file", input: { path: FILE } };
const EDIT = {
  call: "edit_file",
  input: { path: FILE, old_text: "from __future__ import annotations", new_text: "# measured\nfrom __future__ import annotations" },
};
const TASKS = {
  call: "todo",
  input: {
    todos: [
      { content: "Read the tank", status: "completed" },
      { content: "Measure it", status: "in_progress" },
      { content: "Write the report", status: "pending" },
    ],
  },
};

const THEMES = /** @type {const} */ ([
  ["light", "Default Light Modern", "vscode-light"],
  ["dark", "Default Dark Modern", "vscode-dark"],
  ["high-contrast-dark", "Default High Contrast", "vscode-high-contrast"],
  ["high-contrast-light", "Default High Contrast Light", "vscode-high-contrast-light"],
]);

/** @typedef {import("./harness/panel.mjs").Panel} Panel */
/** @typedef {import("playwright-core").Page} Page */

stage("looks", {}, (scenario) => {
  scenario("the panel has the editor's look, in every theme, size and direction", { goesOn: true }, async (scene) => {
    const { page, api, settings, screenshot } = scene;
    await api.enqueue([READ], [EDIT], { say: ANSWER });
    await api.enqueue([{ think: "The report comes next." }, TASKS, { call: "bash", input: { command: "python -m pytest -q" } }], {
      say: "Green.",
    });
    const panel = await openPanel(page);
    await sendPrompt(panel, PROMPT);
    await answerApproval(panel, "Allow once");
    await itemsOf(panel, "assistant").getByText("12 litres").waitFor();
    await sendPrompt(panel, "Test it");
    await approval(panel).waitFor();

    for (const [name, theme, className] of THEMES) {
      await settings({ "workbench.colorTheme": theme });
      await panel.locator(`body.${className}`).waitFor();
      await nothingIsCutOff(panel);
      await screenshot(`theme-${name}`);
    }
    await resizePanel(page, 300);
    await nothingIsCutOff(panel);
    await screenshot("narrow-high-contrast-light");
    await settings({ "workbench.colorTheme": "Default Dark Modern" });
    await panel.locator("body.vscode-dark").waitFor();
    await screenshot("narrow-dark");
    await resizePanel(page, 700);
    await nothingIsCutOff(panel);
    await screenshot("wide");
    await resizePanel(page, 440);

    await panel.locator("html").evaluate((page_) => page_.setAttribute("dir", "rtl"));
    await nothingIsCutOff(panel);
    await screenshot("right-to-left");
    await panel.locator("html").evaluate((page_) => page_.removeAttribute("dir"));

    await page.emulateMedia({ reducedMotion: "reduce" });
    await expectEventually(async () => (await motions(panel)) === 0, "nothing moves");
    await screenshot("reduced-motion");
    await page.emulateMedia({ reducedMotion: null });

    const zoomOut = await zoomed(page, 2);
    await nothingIsCutOff(panel);
    await screenshot("zoomed");
    await zoomOut();
    await answerApproval(panel, "Refuse");
    await turnIsOver(panel);
    await page.emulateMedia({ reducedMotion: "reduce" });
    await settings({});
    await panel.locator("body.vscode-light").waitFor();
  });
});

/** Text that is wider than where it stands, and parts of the panel beyond its edge; what scrolls by itself is no such thing. @param {Panel} panel */
async function nothingIsCutOff(panel) {
  const beyond = await panel.locator("body").evaluate((body) => {
    const inside = body.getBoundingClientRect();
    const isInScrolling = (/** @type {Element} */ each) => {
      for (let at = each.parentElement; at !== null && at !== body; at = at.parentElement) {
        if (/auto|scroll/.test(getComputedStyle(at).overflowX) && !at.classList.contains("timeline")) return true;
      }
      return false;
    };
    return [...body.querySelectorAll("button, p, span, td, th, li, h2, strong, pre, input, textarea")]
      .filter((each) => {
        const { left, right, width, height } = each.getBoundingClientRect();
        return width > 1 && height > 1 && (left < inside.left - 1 || right > inside.right + 1) && !isInScrolling(each);
      })
      .map((each) => each.outerHTML.slice(0, 200));
  });
  assert.deepEqual(beyond, []);
}

/** How many animations run that move something. @param {Panel} panel */
function motions(panel) {
  return panel.locator("body").evaluate(() => document.getAnimations().filter(({ playState }) => playState === "running").length);
}

/** As by the browser's own zoom: less room, more pixels for each. Gives what ends it. @param {Page} page @param {number} factor */
async function zoomed(page, factor) {
  const session = await page.context().newCDPSession(page);
  const metrics = { width: WINDOW.width / factor, height: WINDOW.height / factor, deviceScaleFactor: factor, mobile: false };
  await session.send("Emulation.setDeviceMetricsOverride", metrics);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return async () => {
    await session.send("Emulation.clearDeviceMetricsOverride");
    await session.detach();
  };
}
