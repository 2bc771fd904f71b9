/** The commands that can be typed into the prompt box. Pure: what they do is in `composer.ts` and `main.ts`. */

import { t } from "../../src/l10n";

export type SlashCommand =
  | { name: "compact"; focus: string }
  | { name: "preview"; focus: string }
  | { name: "timeline" }
  | { name: "search"; words: string }
  | { name: "undo" }
  | { name: "redo" }
  | { name: "rewind"; to: string }
  | { name: "fork" }
  | { name: "new" }
  | { name: "model"; model: string }
  | { name: "mode"; mode: string }
  | { name: "effort"; effort: string }
  | { name: "web"; turned: string }
  | { name: "context" }
  | { name: "rules" }
  | { name: "hooks"; words: string }
  | { name: "mcp"; server: string }
  | { name: "running"; words: string }
  | { name: "help" };

interface SlashCommandHelp {
  name: SlashCommand["name"];
  /** What can follow it. */
  argument?: string;
  summary: string;
}

/** For the menu and the help, in their order. */
export const SLASH_COMMANDS: readonly SlashCommandHelp[] = [
  { name: "compact", argument: "[focus]", summary: t("Compact the conversation; name what matters most") },
  { name: "preview", argument: "[focus]", summary: t("See what compacting would do") },
  { name: "undo", summary: t("Undo the last compaction") },
  { name: "redo", summary: t("Redo the compaction that was undone") },
  { name: "timeline", summary: t("Show all compactions of this session") },
  { name: "search", argument: "[words]", summary: t("Search all sessions of this workspace") },
  { name: "context", summary: t("Show what the context is made of") },
  { name: "rules", summary: t("Show rules, skills and commands of the project, and which are in force") },
  { name: "hooks", argument: "[allow|never|forget] [number]", summary: t("Show hooks, and say which may run") },
  { name: "mcp", argument: "[on|off|restart] [name]", summary: t("Show the MCP servers, or turn one on or off") },
  { name: "running", argument: "[stop|output] [id]", summary: t("Show the commands that run in the background, or stop one") },
  { name: "model", argument: "[name]", summary: t("Choose the model of this session") },
  { name: "effort", argument: "[effort]", summary: t("Choose how much work the model puts into its answers") },
  { name: "mode", argument: "[mode]", summary: t("Choose what the agent may do: ask, plan or act") },
  { name: "web", argument: "[on|off]", summary: t("Let the agent read and search the web in this workspace, or stop it") },
  { name: "rewind", argument: "[number] [files]", summary: t("Go back to before a turn that changed files") },
  { name: "fork", summary: t("Continue in a copy of this session") },
  { name: "new", summary: t("Start a new session") },
  { name: "help", summary: t("Show commands and keys") },
];

const ALIASES: Record<string, string> = { clear: "new" };

/**
 * The command in a prompt; undefined if it is none, also where the word after the slash is not known: `/etc/hosts is wrong` is a prompt.
 */
export function parseSlashCommand(text: string): SlashCommand | undefined {
  const match = /^\/([a-z]+)(?:\s+([\s\S]*))?$/.exec(text.trim());
  if (match === null) {
    return undefined;
  }
  const word = match[1] ?? "";
  const argument = (match[2] ?? "").trim();
  const name = ALIASES[word] ?? word;
  switch (name) {
    case "compact":
    case "preview":
      return { name, focus: argument };
    case "model":
      return { name, model: argument };
    case "mode":
      return { name, mode: argument };
    case "effort":
      return { name, effort: argument };
    case "web":
      return { name, turned: argument };
    case "rewind":
      return { name, to: argument };
    case "search":
    case "running":
    case "hooks":
      return { name, words: argument };
    case "mcp": // what is to become of a server is chosen in the list, which shows what it would run
      return { name, server: argument.replace(/^(on|off|restart)\b\s*/, "") };
    case "undo":
    case "redo":
    case "fork":
    case "new":
    case "timeline":
    case "context":
    case "rules":
    case "help":
      return argument === "" ? { name } : undefined;
    default:
      return undefined;
  }
}

/** What was typed of a command's name, also of one that a project brings (`/docs:re`); undefined if the text is none. */
export function typedAfterSlash(text: string): string | undefined {
  return /^\/([\w:.-]*)$/.exec(text)?.[1];
}

/** Commands that begin with what was typed (`/co`), for the menu. Empty if the text is no beginning of a command. */
export function matchSlashCommands(text: string): readonly SlashCommandHelp[] {
  const match = /^\/([a-z]*)$/.exec(text);
  if (match === null) {
    return [];
  }
  const typed = match[1] ?? "";
  const aliased = Object.entries(ALIASES).find(([alias]) => typed !== "" && alias.startsWith(typed))?.[1];
  return SLASH_COMMANDS.filter(({ name }) => name.startsWith(typed) || name === aliased);
}
