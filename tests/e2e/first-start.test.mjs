/** The first start of the packaged extension: it makes its own environment for the server, or says what it lacks. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { ROOT, VENV_PYTHON } from "../../scripts/lib/paths.mjs";
import { capture, quietly } from "../../scripts/lib/processes.mjs";
import { hasContainers } from "./harness/container.mjs";
import { gauge } from "./harness/gauge.mjs";
import { itemsOf, openPanel, panelOf, sendAndFinish } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { notification, reloadWindow, runCommand } from "./harness/workbench.mjs";

/** Milliseconds that the making of an environment may take on a busy machine. On a quiet one the whole first start takes 6 s. */
const MAKING = 60_000;

/** No interpreter is named, so the extension looks for one. */
const settings = { "ullage.server.interpreter": "" };

/** A database of a team needs a library that the package has not got. */
const ofTeam = { "ullage.store.url": "postgresql://ann@localhost/ullage" };

const contained = await canBeContained();
const programs = await withoutPython();

/** Where no network can come, pip need not try again, with seconds in between. */
const NO_NETWORK = { PIP_RETRIES: "0" };

/** For machines without containers. Nobody listens there: what is asked of the network fails. */
const AS_IF_NONE = { HTTPS_PROXY: "http://127.0.0.1:9", HTTP_PROXY: "http://127.0.0.1:9", PIP_NO_INDEX: "1" };

// Launched from a terminal, VS Code takes the environment as it is and asks no login shell for another PATH.
const env = {
  ...{ PATH: programs, VSCODE_CLI: "1" },
  ...(contained ? NO_NETWORK : { ...AS_IF_NONE, HOME: programs, PYENV_ROOT: programs }),
};

stage("first start", { practice: true, env, contained }, (scenario) => {
  scenario(
    "without Python it says so; with one it makes its own environment with progress, and the second start needs none",
    { settings },
    async ({ page, serverProcess, screenshot, settings: changed }) => {
      await saysThatPythonIsMissing(page, /winget|Homebrew|package manager/);
      await screenshot("1-no-python");
      await putPython("echo /usr/bin/python3\necho 3.9");
      await restart(page);
      await saysThatPythonIsMissing(page, /Found: .*python3 is 3\.9\./);
      await screenshot("1-old-python");

      await putPython(`exec "${await pythonOfTests()}" "$@"`);
      await restart(page);
      await notification(page, "Ullage: setting up").waitFor();
      const since = Date.now();
      await screenshot("2-setting-up");
      await gauge(page).getByText("%").waitFor({ timeout: MAKING });
      console.log(`The environment was made and the server started in ${((Date.now() - since) / 1000).toFixed(1)} s`);
      if (contained) await hasNothingAround(await serverProcess());
      const panel = await openPanel(page);
      await sendAndFinish(panel, "Where is the safe fill?");
      await itemsOf(panel, "assistant").first().waitFor();
      await screenshot("2-works");
      await offersWhatACloudNeeds(page, screenshot);

      await runCommand(page, "View: Toggle Secondary Side Bar Visibility");
      await changed(ofTeam);
      await offersItWhereThePanelIsHidden(page, screenshot);

      await reloadWindow(page);
      await gauge(page).getByText("%").waitFor();
      assert.equal(await notification(page, "Ullage: setting up").count(), 0);
      await itemsOf(await openPanel(page), "user")
        .getByText("Where is the safe fill?")
        .waitFor();
      await screenshot("3-second-start");
      await offersWhatATeamNeeds(page, screenshot);

      await runCommand(page, "Ullage: Remove the Python environment");
      await panelOf(page).getByText("The server's Python environment was removed").waitFor();
      await screenshot("4-removed");
      await runCommand(page, "Ullage: Repair the Python environment");
      await gauge(page).getByText("%").waitFor({ timeout: MAKING });
      await itemsOf(await openPanel(page), "user")
        .getByText("Where is the safe fill?")
        .waitFor();
    },
  );
});

/** On Linux it runs on a machine that has nothing of this repository and no network. A build server that cannot make one fails. */
async function canBeContained() {
  const can = await hasContainers();
  if (!can && process.platform === "linux" && process.env["CI"]) {
    throw new Error("This machine lets nobody make namespaces of users, so the first start without a network cannot be tested");
  }
  return can;
}

/** The server has a network of its loopback device alone, sees nothing of this repository, and is not the user that runs the tests. @param {number} server */
async function hasNothingAround(server) {
  const devices = (await readFile(`/proc/${server}/net/dev`, "utf8")).match(/^ *[\w.-]+(?=:)/gm);
  assert.deepEqual(
    devices?.map((name) => name.trim()),
    ["lo"],
  );
  const root = `/proc/${server}/root`;
  assert.ok(!existsSync(join(root, ROOT)), "the repository is in the container");
  assert.match(await readFile(join(root, "etc", "passwd"), "utf8"), /^dev:x:1000:/);
  assert.match(await readFile(`/proc/${server}/environ`, "utf8"), /(^|\0)USER=dev\0/);
}

/**
 * What it fetches for a cloud it asks for first, and without a network it says why it cannot. The server is as before then.
 *
 * @param {import("playwright-core").Page} page @param {(name: string) => Promise<void>} screenshot
 */
async function offersWhatACloudNeeds(page, screenshot) {
  await runCommand(page, "Ullage: Connect a model", "Google Vertex AI");
  const dialog = page.locator(".monaco-dialog-box");
  await dialog.getByText(/library google-auth finds your credentials/).waitFor();
  await screenshot("2-offers-packages");
  await dialog.getByRole("button", { name: "Install" }).click();
  await dialog.getByText("The packages could not be fetched").waitFor({ timeout: MAKING });
  await dialog.getByText(/could not be downloaded|proxy could not be reached/).waitFor();
  await screenshot("2-packages-cannot-be-had");
  await dialog.getByRole("button", { name: "Cancel" }).click();
}

/**
 * The same of a team's database, which the panel offers beside what it says of it.
 *
 * @param {import("playwright-core").Page} page @param {(name: string) => Promise<void>} screenshot
 */
async function offersWhatATeamNeeds(page, screenshot) {
  const banner = panelOf(page).locator(".banner.warning").filter({ hasText: "need the library psycopg" });
  await banner.getByText("Sessions are kept on this machine alone until then").waitFor();
  await screenshot("3-lacks-the-library");
  await banner.getByRole("button", { name: "Install…" }).click();
  const dialog = page.locator(".monaco-dialog-box");
  await dialog.getByText(/psycopg speaks to the database of your team/).waitFor();
  await screenshot("3-offers-the-library");
  await dialog.getByRole("button", { name: "Install" }).click();
  await dialog.getByText("The packages could not be fetched").waitFor({ timeout: MAKING });
  await dialog.getByText(/could not be downloaded|proxy could not be reached/).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
}

/**
 * Where nobody sees the panel, a notification offers it.
 *
 * @param {import("playwright-core").Page} page @param {(name: string) => Promise<void>} screenshot
 */
async function offersItWhereThePanelIsHidden(page, screenshot) {
  const told = notification(page, "need the library psycopg");
  await told.waitFor({ timeout: MAKING });
  await screenshot("2-lacks-the-library-unseen");
  await told.getByRole("button", { name: "Install…" }).click();
  const dialog = page.locator(".monaco-dialog-box");
  await dialog.getByText(/psycopg speaks to the database of your team/).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
}

/** @param {import("playwright-core").Page} page @param {RegExp} why what the panel says beside it */
async function saysThatPythonIsMissing(page, why) {
  const said = panelOf(page).getByText(/Python 3\.11 or newer was not found/);
  await said.filter({ hasText: why }).waitFor();
  await gauge(page).getByText("Ullage stopped").waitFor();
}

/** By the button that the panel shows with it. @param {import("playwright-core").Page} page */
async function restart(page) {
  await panelOf(page).getByRole("button", { name: "Restart" }).click();
}

/** A folder for PATH with what VS Code needs, but no Python. */
async function withoutPython() {
  const folder = await mkdtemp(join(tmpdir(), "ullage-path-"));
  after(() => rm(folder, { recursive: true }));
  for (const name of ["sh", "bash", "env", "uname", "ps", "cat", "sleep", "git"]) {
    const { code, output } = await capture(["sh", "-c", `command -v ${name}`]);
    if (code === 0) await symlink(output.trim(), join(folder, name));
  }
  return folder;
}

/** Put one into that folder. @param {string} script what it does */
async function putPython(script) {
  const path = join(programs, "python3");
  await rm(path, { force: true });
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

/** The one that the environment of the tests was made with. */
async function pythonOfTests() {
  const prefix = await quietly([VENV_PYTHON, "-c", "import sys; print(sys.base_prefix)"]);
  return join(prefix.trim(), "bin", "python3");
}
