/** What changed in a session. Mirrors `server/ullage/lsp/protocol/updates.py`. */

import type { OpenChanges } from "./changes";
import type { Pins } from "./history";
import type { Gauge, Item, ModelInfo, Optional, PlanEntry, RetryInfo, SessionState } from "./items";
import type { RunningCommand } from "./running";
import type { ModeId } from "./sessions";

/** A turn that is over: of which prompt, and why. */
export interface EndedTurn {
  promptId: string;
  stopReason: "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled" | "error";
}

/** What changed in a session. */
export type Update =
  | { kind: "item"; item: Item }
  | { kind: "append"; itemId: string; field: "text" | "output" | "input"; text: string }
  | { kind: "remove"; itemId: string }
  | { kind: "state"; state: SessionState; retry?: Optional<RetryInfo>; ended?: Optional<EndedTurn> }
  | { kind: "gauge"; gauge: Gauge }
  | { kind: "plan"; entries: PlanEntry[] }
  | { kind: "title"; title: string }
  | { kind: "model"; model: ModelInfo }
  | { kind: "pins"; pins: Pins }
  | { kind: "changes"; changes: OpenChanges }
  | { kind: "mode"; currentModeId: ModeId }
  | { kind: "running"; commands: RunningCommand[] };

/** An update by its number: one follows the other. */
export interface UpdateParams {
  sessionId: string;
  seq: number;
  update: Update;
}
