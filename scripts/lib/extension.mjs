/** Building the extension, and packing it with the server into a .vsix. */

import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { node24 } from "./node24.mjs";
import { installTool } from "./npm.mjs";
import { hashOf, once } from "./once.mjs";
import { EXTENSION, ROOT, STATE, VENV_PYTHON } from "./paths.mjs";
import { quietly } from "./processes.mjs";

/** Bundle the extension into client-extension/dist. */
export async function buildExtension() {
  const inputs = [EXTENSION, join(ROOT, "package-lock.json")];
  await once(
    { name: "extension", title: "Building the extension", key: await hashOf(inputs), makes: join(EXTENSION, "dist") },
    async () => {
      await quietly([process.execPath, join(EXTENSION, "esbuild.mjs"), "--production"], { cwd: EXTENSION });
    },
  );
}

/**
 * Pack the extension, with the server's wheel and the lock of what it needs, unless nothing changed.
 *
 * @returns {Promise<string>} path of the .vsix
 */
export async function packageExtension() {
  await buildExtension();
  const { version } = await readManifest();
  const vsix = join(STATE, `ullage-${version}.vsix`);
  const inputs = ["client-extension", "server", "pyproject.toml", "requirements.lock", "LICENSE", "CHANGELOG.md", "package-lock.json"];
  const what = {
    name: "vsix",
    title: "Packing the extension with the server",
    key: await hashOf(inputs.map((path) => join(ROOT, path))),
    makes: vsix,
  };
  await once(what, async () => {
    const stage = await stageExtension();
    const node = await node24();
    const tool = await installTool("vsce", { title: "Fetching vsce, which packs extensions", node });
    const vsce = join(tool, "node_modules", "@vscode", "vsce", "vsce");
    await quietly([node, vsce, "package", "--no-dependencies", "--allow-missing-repository", "--out", vsix], { cwd: stage });
  });
  return vsix;
}

/**
 * Put together what the package is made of, outside the source tree. What goes in of it, the extension's .vscodeignore says.
 *
 * @returns {Promise<string>} the folder
 */
async function stageExtension() {
  const stage = join(STATE, "vsix");
  const server = join(stage, "dist-server");
  await rm(stage, { recursive: true, force: true });
  await cp(EXTENSION, stage, { recursive: true, filter: (path) => !path.includes("node_modules") });
  for (const name of ["LICENSE", "CHANGELOG.md"]) {
    if (!existsSync(join(stage, name)) && existsSync(join(ROOT, name))) await cp(join(ROOT, name), join(stage, name));
  }
  await writeFile(join(stage, "package.json"), JSON.stringify(await shippedManifest(), null, 2));
  await mkdir(server, { recursive: true });
  await quietly([VENV_PYTHON, "-m", "hatchling", "build", "--target", "wheel", "--directory", server]);
  await cp(join(ROOT, "requirements.lock"), join(server, "requirements.lock"));
  return stage;
}

/** The manifest without what is only for building: vsce would run the build again, where its packages are not. */
async function shippedManifest() {
  const { scripts: _scripts, devDependencies: _devDependencies, ...shipped } = await readManifest();
  return shipped;
}

async function readManifest() {
  return JSON.parse(await readFile(join(EXTENSION, "package.json"), "utf8"));
}
