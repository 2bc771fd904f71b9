/** VS Code with the packaged extension. It serves any number of windows, each on a copy of a project. */

import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hostTarget, packageExtension } from "../../../scripts/lib/extension.mjs";
import { once, hashOf } from "../../../scripts/lib/once.mjs";
import { ROOT, STATE, VENV_PYTHON } from "../../../scripts/lib/paths.mjs";
import { processesWith, quietly } from "../../../scripts/lib/processes.mjs";
import { installExtension, replaceSettings, startVsCodeWeb, vsCodeWeb } from "../../../scripts/lib/vscode-web.mjs";
import { copyWorkspace } from "../../../scripts/lib/workspace.mjs";
import { makeContainer } from "./container.mjs";

/** Seconds. A tab says goodbye while it is taken down; now and then that is lost, and its processes would wait three hours for it. */
const GRACE = 10;

/** A cursor that blinks has the window drawn again and again. Where words are offered, a line that is typed would end in one of them. */
const SETTINGS = {
  "ullage.server.interpreter": VENV_PYTHON,
  "editor.cursorBlinking": "solid",
  "editor.acceptSuggestionOnEnter": "off",
  "terminal.integrated.commandsToSkipShell": ["otherExtension.answer", "otherExtension.startAgain", "otherExtension.startAgainAnew"],
  "terminal.integrated.env.linux": { PROMPT_COMMAND: "PS1='$ '" }, // pictures name no machine and no folder of it
};

/** What comes with VS Code and is needed here: how things look, and how a file of the sample project is shown. The rest starts for nothing. */
const BUILT_IN = [
  "theme-defaults",
  "theme-seti",
  "python",
  "json",
  "json-language-features",
  "markdown-basics",
  "media-preview",
  "git-base",
  "git",
];

/**
 * @typedef {object} OpenVsCode
 * @property {string} userData folder of its settings, state and logs
 * @property {(project: string) => Promise<string>} copyProject copies a project to a folder that a scenario may change
 * @property {(folder: string) => Promise<void>} restoreProject makes a copy what it was
 * @property {(folder?: string) => string} urlOf where a window on a folder is served, or one without a folder
 * @property {(settings: Record<string, unknown>, change?: number) => Promise<void>} useSettings makes these the user's settings, and no others;
 *   `other-extension` says when a window has taken the change of this number
 * @property {() => Promise<number[]>} servers process ids of the Ullage servers that its windows have started
 * @property {() => Promise<string>} log what the extension and its servers have logged
 * @property {() => Promise<void>} stop ends it with everything it started, and takes its folders away
 */

/**
 * @param {NodeJS.ProcessEnv} [env] environment, beside ours
 * @param {boolean} [contained] in a container, where its own environment takes the place of ours (`container.mjs`)
 * @returns {Promise<OpenVsCode>}
 */
export async function openVsCode(env = {}, contained = false) {
  const outside = await vsCodeWeb();
  const home = await mkdtemp(join(tmpdir(), "ullage-e2e-"));
  const container = contained ? await makeContainer(outside, home, await packageForHere(), env) : undefined;
  const web = container?.web ?? outside;
  const place = { userData: join(home, "user-data"), extensions: join(home, "extensions") };
  if (container === undefined) place.extensions = await installedExtension(web);
  else await installExtension(web, place, container.vsix, container.within);
  const builtIn = join(home, "built-in");
  await mkdir(builtIn);
  for (const name of BUILT_IN) await symlink(join(web.builtIn, name), join(builtIn, name), "junction");
  if (!contained) await symlink(join(ROOT, "tests", "e2e", "harness", "other-extension"), join(builtIn, "other-extension"), "junction");
  const running = await startVsCodeWeb(web, {
    folder: home,
    place,
    port: 0,
    grace: GRACE,
    builtIn,
    ...(container === undefined
      ? { env: { NODE_COMPILE_CACHE: join(STATE, "e2e", "compiled"), ...env } } // each window has a Node of its own, which reads the same
      : { container }),
  });
  const base = new URL("/", running.url).href;
  let copies = 0;
  return {
    userData: place.userData,
    copyProject: async (project) => {
      const parent = join(home, String(++copies));
      await mkdir(parent);
      const folder = join(parent, "tankgauge");
      await copyWorkspace(project, folder);
      return folder;
    },
    restoreProject: async (folder) => {
      await quietly(["git", "clean", "--quiet", "--force", "-dx"], { cwd: folder });
      await quietly(["git", "checkout", "--quiet", "--", "."], { cwd: folder });
    },
    urlOf: (folder) => (folder === undefined ? `${base}?ew=true` : `${base}?folder=${encodeURIComponent(folder)}`),
    useSettings: (settings, change = 0) => replaceSettings(place, { ...SETTINGS, "otherExtension.change": change, ...settings }),
    servers: () => serversOf(running.mark),
    log: () => logIn(join(place.userData, "logs")),
    stop: async () => {
      await running.stop();
      await container?.remove();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** @param {string} mark */
async function serversOf(mark) {
  const pids = await processesWith(mark);
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return pids.filter((_, index) => commands[index]?.includes("\0-m\0ullage\0serve"));
}

/** @param {string} folder */
async function logIn(folder) {
  const files = await readdir(folder, { recursive: true }).catch(() => []);
  const ours = files.filter((file) => file.endsWith("Ullage.log"));
  return (await Promise.all(ours.map((file) => readFile(join(folder, file), "utf8")))).join("\n");
}

/** With the wheels for the Python that the tests use, so that no scenario needs a network, where this system has a package of its own. */
export async function packageForHere() {
  const target = hostTarget();
  const version = await quietly([VENV_PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]);
  return packageExtension(target === undefined ? {} : { target, pythons: [version.trim()] });
}

/** The extension is installed once for all scenarios. @param {import("../../../scripts/lib/vscode-web.mjs").VsCodeWeb} web */
async function installedExtension(web) {
  const vsix = await packageForHere();
  const place = { userData: join(STATE, "e2e", "user-data"), extensions: join(STATE, "e2e", "extensions") };
  const what = { name: "e2e-extension", title: "Installing the packaged extension", key: await hashOf([vsix]), makes: place.extensions };
  await once(what, async () => {
    await rm(place.extensions, { recursive: true, force: true });
    await installExtension(web, place, vsix);
  });
  return place.extensions;
}
