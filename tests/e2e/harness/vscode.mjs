/** VS Code with the packaged extension, on a copy of a project, for one scenario. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageExtension } from "../../../scripts/lib/extension.mjs";
import { once, hashOf } from "../../../scripts/lib/once.mjs";
import { STATE, VENV_PYTHON } from "../../../scripts/lib/paths.mjs";
import { installExtension, startVsCodeWeb, vsCodeWeb } from "../../../scripts/lib/vscode-web.mjs";
import { copyWorkspace } from "../../../scripts/lib/workspace.mjs";

/**
 * @typedef {object} OpenVsCode
 * @property {string} url where it is served, with the folder
 * @property {string} workspace the folder that is open: a copy that the scenario may change
 * @property {string} userData folder of its settings, state and logs
 * @property {() => Promise<void>} stop ends it with everything it started, and takes its folders away
 */

/**
 * @param {object} what
 * @param {string} what.project folder that is copied and opened
 * @param {Record<string, unknown>} [what.settings] user settings
 * @param {NodeJS.ProcessEnv} [what.env] environment, beside ours
 * @returns {Promise<OpenVsCode>}
 */
export async function openVsCode({ project, settings = {}, env = {} }) {
  const web = await vsCodeWeb();
  const extensions = await installedExtension(web);
  const home = await mkdtemp(join(tmpdir(), "ullage-e2e-"));
  const workspace = join(home, "project");
  const userData = join(home, "user-data");
  await copyWorkspace(project, workspace);
  const running = await startVsCodeWeb(web, {
    folder: workspace,
    place: { userData, extensions },
    port: 0,
    settings: { "ullage.server.interpreter": VENV_PYTHON, ...settings },
    env,
  });
  const stop = async () => {
    await running.stop();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  return { url: running.url, workspace, userData, stop };
}

/** The extension is installed once for all scenarios. @param {import("../../../scripts/lib/vscode-web.mjs").VsCodeWeb} web */
async function installedExtension(web) {
  const vsix = await packageExtension();
  const place = { userData: join(STATE, "e2e", "user-data"), extensions: join(STATE, "e2e", "extensions") };
  const what = { name: "e2e-extension", title: "Installing the packaged extension", key: await hashOf([vsix]), makes: place.extensions };
  await once(what, async () => {
    await rm(place.extensions, { recursive: true, force: true });
    await installExtension(web, place, vsix);
  });
  return place.extensions;
}
