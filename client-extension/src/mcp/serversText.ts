/** MCP servers in words for the user. No VS Code in here. */

import { formatTokensExactly } from "../format";
import { plural, t } from "../l10n";
import type { McpServer, McpState } from "../protocol";

/** Icons of VS Code, by state. */
export const STATE_ICONS: Record<McpState, string> = {
  off: "circle-slash",
  untrusted: "question",
  starting: "loading~spin",
  running: "pass",
  waiting: "history",
  sign_in: "account",
  failed: "error",
};

/** What a server is doing, and what it offers and costs, in a line. */
export function stateInWords(server: McpServer): string {
  const why = server.why ?? "";
  switch (server.state) {
    case "off":
      return t("off");
    case "untrusted":
      return server.kind === "http" ? t("off until you turn it on") : t("not started: you have not trusted it");
    case "starting":
      return t("starting…");
    case "waiting":
      return why === "" ? t("is started again soon") : t("is started again soon: {why}", { why });
    case "sign_in":
      return t("waits for you to sign in");
    case "failed":
      return why === "" ? t("failed") : t("failed: {why}", { why });
    case "running":
      return offersInWords(server);
  }
}

function offersInWords({ tools, prompts, resources, indexTokens, toolTokens }: McpServer): string {
  const parts = [
    plural(tools.length, t("{count} tool"), t("{count} tools")),
    ...(prompts > 0 ? [plural(prompts, t("{count} prompt"), t("{count} prompts"))] : []),
    ...(resources.length > 0 ? [plural(resources.length, t("{count} resource"), t("{count} resources"))] : []),
  ];
  if (tools.length > 0) {
    parts.push(
      t("{index} tokens in the index, {all} if all were loaded", {
        index: formatTokensExactly(indexTokens),
        all: formatTokensExactly(toolTokens),
      }),
    );
  }
  return parts.join(" · ");
}

/** Where it is configured. */
export function placeOf({ file }: McpServer): string {
  return file ?? t("your settings");
}

/** What the user is asked before a server is started, or reached, for the first time. */
export function trustQuestion(server: McpServer): { title: string; detail: string; button: string } {
  const { name, shown = "", host } = server;
  if (server.kind === "http") {
    return {
      title: t("Turn on the MCP server {name}?", { name }),
      detail: t(
        "It is a service at {host}. What the agent passes to its tools leaves this machine, and what it answers goes to the model. Its address: {address}",
        { host: host ?? "", address: shown ?? "" },
      ),
      button: t("Turn on"),
    };
  }
  return {
    title: t("Trust the MCP server {name} and start it?", { name }),
    detail: t(
      "It runs outside of the sandbox, with all that you may do. {file} says how it is started. If that changes, you are asked again. The command: {command}",
      { file: placeOf(server), command: shown ?? "" },
    ),
    button: t("Trust and start"),
  };
}

/** The servers that the user has not decided about and was not told of yet. */
export function newToTell(servers: readonly McpServer[], told: readonly string[]): McpServer[] {
  return servers.filter(({ asks, fingerprint }) => asks && !told.includes(fingerprint));
}

/** What a notification says of them. */
export function toldInWords(servers: readonly McpServer[]): string {
  const names = servers.map(({ name }) => name).join(", ");
  return plural(
    servers.length,
    t("An MCP server is configured here: {names}. It does nothing before you allow it.", { names }),
    t("{count} MCP servers are configured here: {names}. They do nothing before you allow them.", { names }),
  );
}
