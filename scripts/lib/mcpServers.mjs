/** The reference servers of MCP from npm, which the Python tests start. Run alone, it installs them. */

import { pathToFileURL } from "node:url";
import { main } from "./console.mjs";
import { installTool } from "./npm.mjs";

/** @returns {Promise<string>} the folder that has them in its node_modules */
export function provideMcpServers() {
  return installTool("mcp-servers", { title: "Fetching the reference servers of MCP, for the tests" });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    await provideMcpServers();
    return 0;
  });
}
