/** MCP servers. Mirrors `server/ullage/lsp/protocol/mcp.py`; see PROTOCOL.md, "MCP servers". */

import type { Optional } from "./items";

/** How an MCP server stands. */
export type McpState = "off" | "untrusted" | "starting" | "running" | "waiting" | "sign_in" | "failed";

/** A tool of an MCP server, in its own words; `readOnly` is what the server says of it. */
export interface McpTool {
  name: string;
  description: string;
  readOnly?: Optional<boolean>;
}

/** Something of a server that can be attached to a prompt. */
export interface McpResource {
  uri: string;
  name: string;
  description?: Optional<string>;
}

/** An MCP server that is configured. `shown` is its command or its address, `why` why it is not running. Tokens are estimated. */
export interface McpServer {
  name: string;
  source: "settings" | ".mcp.json" | ".vscode/mcp.json";
  state: McpState;
  fingerprint: string;
  /** The user has not decided about it yet. */
  asks: boolean;
  tools: McpTool[];
  resources: McpResource[];
  prompts: number;
  indexTokens: number;
  toolTokens: number;
  kind?: Optional<"stdio" | "http">;
  file?: Optional<string>;
  shown?: Optional<string>;
  host?: Optional<string>;
  why?: Optional<string>;
  signedIn?: Optional<boolean>;
}
