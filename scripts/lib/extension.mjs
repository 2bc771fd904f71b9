/** Building the extension, and packing it with the server into a .vsix. */

import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "./console.mjs";
import { node24 } from "./node24.mjs";
import { installTool } from "./npm.mjs";
import { hashOf, once } from "./once.mjs";
import { EXTENSION, ROOT, STATE, VENV_PYTHON } from "./paths.mjs";
import { capture, quietly } from "./processes.mjs";

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

/** What VS Code calls the systems that have a package of their own, with the wheels for them inside. */
export const TARGETS = [
  ...["win32-x64", "win32-arm64", "darwin-x64", "darwin-arm64"],
  ...["linux-x64", "linux-arm64", "alpine-x64", "alpine-arm64"],
];

/** What VS Code calls the system that this runs on; undefined where it has no package of its own. */
export function hostTarget() {
  const report = /** @type {{header: {glibcVersionRuntime?: string}} | undefined} */ (process.report?.getReport());
  const isAlpine = process.platform === "linux" && report?.header.glibcVersionRuntime === undefined;
  const target = `${isAlpine ? "alpine" : process.platform}-${process.arch}`;
  return TARGETS.includes(target) ? target : undefined;
}

/** What the server needs, and what users of a cloud and of a team's PostgreSQL need beside that. */
const LOCKS = ["requirements.lock", "requirements-clouds.lock", "requirements-team.lock"];

/** A package that the server needs has no wheel for a target. */
export class NoWheels extends Failure {
  /** @param {string} target @param {string[]} packages */
  constructor(target, packages) {
    super(
      `${target} cannot be had: there is no wheel of ${packages.join(", ")}. The package without wheels serves it, where a compiler is.`,
    );
  }
}

/**
 * @typedef {object} Packing
 * @property {string} [target] one of TARGETS, with wheels inside; without it the package is for every system, and fetches what it needs
 * @property {string[]} [pythons] the versions of Python that the wheels inside serve; all that Ullage runs on if left out
 */

/**
 * Pack the extension, with the server's wheel and the lock of what it needs, unless nothing changed.
 *
 * @param {Packing} [packing]
 * @returns {Promise<string>} path of the .vsix
 * @throws {NoWheels}
 */
export async function packageExtension({ target, pythons = [] } = {}) {
  await buildExtension();
  const wheels = target === undefined ? undefined : await fetchWheels(target, pythons);
  const { version } = await readManifest();
  const name = ["ullage", target, ...pythons].filter(Boolean).join("-");
  const vsix = join(STATE, `${name}-${version}.vsix`);
  const inputs = ["client-extension", "server", "pyproject.toml", ...LOCKS, "LICENSE", "CHANGELOG.md", "package-lock.json"];
  const what = {
    name: `vsix-${name}`,
    title: `Packing the extension with the server${target === undefined ? "" : ` for ${[target, ...pythons].join(", ")}`}`,
    key: await hashOf(inputs.map((path) => join(ROOT, path))),
    makes: vsix,
  };
  await once(what, async () => {
    const stage = await stageExtension(name, wheels);
    const { node, vsce } = await packingTools();
    const flags = [...(target === undefined ? [] : ["--target", target]), ...(isPreRelease(version) ? ["--pre-release"] : [])];
    await quietly([node, vsce, "package", "--no-dependencies", ...flags, "--out", vsix], { cwd: stage });
    if (wheels !== undefined) await lookInto(vsix);
    await rm(stage, { recursive: true });
  });
  return vsix;
}

/**
 * VS Code's convention: an odd minor version is a pre-release. It has to be said when the file is packed; nobody can say it when it is published.
 *
 * @param {string} version
 */
function isPreRelease(version) {
  return Number(version.split(".")[1]) % 2 === 1;
}

/** What packs an extension, and the Node that runs it. */
export async function packingTools() {
  const node = await node24();
  const tool = await installTool("vsce", { title: "Fetching vsce, which packs extensions", node });
  return { node, vsce: join(tool, "node_modules", "@vscode", "vsce", "vsce") };
}

/**
 * The wheels of all that the lock names, held against its hashes.
 *
 * @param {string} target @param {string[]} pythons
 * @returns {Promise<string>} the folder
 */
async function fetchWheels(target, pythons) {
  const name = ["wheels", target, ...pythons].join("-");
  const folder = join(STATE, "wheels", name);
  const sources = ["requirements.lock", "scripts/lib/wheels.py"].map((path) => join(ROOT, path));
  const what = { name, title: `Fetching the wheels for ${[target, ...pythons].join(", ")}`, key: await hashOf(sources), makes: folder };
  await once(what, async () => {
    const { code, output } = await capture([VENV_PYTHON, join(ROOT, "scripts", "lib", "wheels.py"), target, folder, ...pythons]);
    if (code === NO_WHEEL) throw new NoWheels(target, output.trim().split(/\s+/));
    if (code !== 0) throw new Failure(`${output.trim()}\nThe wheels for ${target} could not be fetched`);
  });
  return folder;
}

/**
 * Everything that the server needs is in the package, whole, and for its system and its Pythons. One that fails this is not left behind.
 *
 * @param {string} vsix
 */
async function lookInto(vsix) {
  const { code, output } = await capture([VENV_PYTHON, join(ROOT, "scripts", "lib", "packed.py"), vsix]);
  if (code === 0) return;
  await rm(vsix);
  throw new Failure(`${vsix} is not as it has to be:\n${output.trim()}`);
}

/** The exit code of wheels.py where a package has no wheel. */
const NO_WHEEL = 3;

/**
 * Put together what the package is made of, outside the source tree. What goes in of it, the extension's .vscodeignore says.
 *
 * @param {string} name
 * @param {string | undefined} wheels folder of the wheels that go in
 * @returns {Promise<string>} the folder
 */
async function stageExtension(name, wheels) {
  const stage = join(STATE, "stage", name);
  const server = join(stage, "dist-server");
  await rm(stage, { recursive: true, force: true });
  await cp(EXTENSION, stage, { recursive: true, filter: (path) => !path.includes("node_modules") });
  for (const file of ["LICENSE", "CHANGELOG.md"]) {
    if (!existsSync(join(stage, file)) && existsSync(join(ROOT, file))) await cp(join(ROOT, file), join(stage, file));
  }
  await writeFile(join(stage, "package.json"), JSON.stringify(await shippedManifest(), null, 2));
  await mkdir(server, { recursive: true });
  await quietly([VENV_PYTHON, "-m", "hatchling", "build", "--target", "wheel", "--directory", server]);
  for (const lock of LOCKS) await cp(join(ROOT, lock), join(server, lock));
  if (wheels !== undefined) await cp(wheels, join(server, "wheels"), { recursive: true });
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
