/** Rules, what is asked about, and past calls. Mirrors `server/ullage/lsp/protocol/permissions.py`; see PROTOCOL.md, "Permissions". */

import type { Optional } from "./items";

/** What a rule is about; one about reading can only refuse. */
export type RuleAction = "command" | "edit" | "host" | "read" | "mcp" | "agent" | "search";

/** Where a rule holds. */
export type RuleScope = "session" | "workspace" | "everywhere";

/** What the user is asked about. */
export type AskFor = "everything" | "notHarmless" | "outsideSandbox";

/** A rule as the user writes it. */
export interface NewRule {
  action: RuleAction;
  pattern: string;
  scope: RuleScope;
  /** It refuses what it is about, in place of allowing it. */
  refuses?: Optional<boolean>;
}

/** Something that the user always allows, or always refuses. Texts are for the user, with backticks around what is literal. */
export interface Allowed {
  action: string;
  pattern: string;
  name: string;
  scope: RuleScope;
  /** What it lets run. */
  explanation: string;
  /** How often it allowed something. */
  used: number;
  since?: Optional<number>;
  lastUsed?: Optional<number>;
  /** What is wide about it. */
  warning?: Optional<string>;
  refuses?: Optional<boolean>;
}

/** What the user wants to be asked about, and what they are asked about. */
export interface Asking {
  wanted: AskFor;
  inForce: AskFor;
  /** Why no sandbox confines commands, where none does. */
  noSandbox?: Optional<string>;
}

/** What the agent asked to do before. */
export interface PastCall {
  text: string;
  times: number;
  /** When it last did. */
  at: number;
  /** Under the rule that is checked and those that there are. */
  allowed: boolean;
  /** By one of these. */
  refused?: Optional<boolean>;
}

/** What is known of a rule before it is saved. */
export interface CheckedRule {
  /** The newest of them. */
  matches: PastCall[];
  matched: number;
  /** How many past calls of its kind there are. */
  of: number;
  /** Why it cannot be a rule. */
  problem?: Optional<string>;
  explanation?: Optional<string>;
  warning?: Optional<string>;
}
