/** Rules, skills, commands and hooks that files declare. Mirrors `server/ullage/lsp/protocol/instructions.py`; see PROTOCOL.md, "Instructions". */

import type { Optional } from "./items";

/** A file with rules, a skill or a command of the project. */
export interface InstructionsFile {
  kind: "rules" | "skill" | "command";
  path: string;
  /** What it takes of every request. */
  tokens: number;
  /** Whether it is in force, and why. */
  why: string;
  /** What a skill or a command is called by. */
  name?: Optional<string>;
  /** What is wrong with it. */
  problem?: Optional<string>;
  importedBy?: Optional<string>;
}

/** What the user decided about a hook: it runs in the sandbox, with all their rights, or never. */
export type HookRuns = "sandbox" | "outside" | "never";

/** What a hook did when it last ran; `tokens` is what it told the agent in this session. */
export interface HookRun {
  at: number;
  seconds: number;
  why: string;
  failed: boolean;
  tokens: number;
  times: number;
}

/** A hook that a file declares. When it is edited it has another id. */
export interface ShownHook {
  id: string;
  event: string;
  matcher: string;
  command: string;
  path: string;
  /** How long it may take. */
  seconds: number;
  runs?: Optional<HookRuns>;
  last?: Optional<HookRun>;
}

/** What a file declares and cannot be run. */
export interface PassedHook {
  event: string;
  command: string;
  path: string;
  why: string;
}

/** Rules, skills, commands and hooks of the project. */
export interface Instructions {
  files: InstructionsFile[];
  hooks: ShownHook[];
  passed: PassedHook[];
  /** Why no hook runs at all. */
  reason?: Optional<string>;
  /** Why no sandbox confines any. */
  noSandbox?: Optional<string>;
}
