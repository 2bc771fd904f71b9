/** The desktop VS Code that the user may have: whether it can be used, and opening it with the extension from the source tree. */

import { EXTENSION } from "./paths.mjs";
import { capture, run } from "./processes.mjs";

/**
 * Whether `code` is there and can open a window. In a terminal inside VS Code's own server `code` is another program, which cannot
 * load an extension from a folder; on Linux it needs a display, and it refuses to run as root.
 *
 * @returns {Promise<boolean>}
 */
export async function hasDesktopVsCode() {
  const env = process.env;
  if (env["VSCODE_IPC_HOOK_CLI"]) return false;
  if (process.platform === "linux" && !env["DISPLAY"] && !env["WAYLAND_DISPLAY"] && !env["WSL_DISTRO_NAME"]) return false;
  if (process.getuid?.() === 0) return false;
  const { code } = await capture([...program(), "--version"]);
  return code === 0;
}

/**
 * Open a window on a folder and wait until it is closed. Gives the exit code of `code`.
 *
 * @param {string} folder
 * @returns {Promise<number>}
 */
export function openDesktopVsCode(folder) {
  return run([...program(), "--wait", "--new-window", `--extensionDevelopmentPath=${EXTENSION}`, folder]);
}

/** On Windows `code` is a batch file, which only a shell can start. */
function program() {
  return process.platform === "win32" ? ["cmd", "/c", "code"] : ["code"];
}
