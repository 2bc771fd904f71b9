/** What the editor has: language models, problems. Mirrors `server/ullage/lsp/protocol/editor.py`; see PROTOCOL.md, "The editor's language models". */

import type { Optional } from "./items";

/** A language model of the editor; `id` is the vendor and its own name for the model, `window` tokens of input. */
export interface EditorModel {
  id: string;
  name: string;
  vendor: string;
  window: number;
  images?: Optional<boolean>;
  /** Whether it can call tools; absent where the editor does not say. */
  tools?: Optional<boolean>;
}

/** One message for a language model of the editor. */
export interface ChatMessage {
  role: "user" | "assistant";
  parts: SentPart[];
}

/** A part of a message that a model gets. */
export type SentPart =
  | { kind: "text"; text: string }
  /** `data` is base64. */
  | { kind: "image"; mediaType: string; data: string }
  /** `input` is JSON text. */
  | { kind: "toolCall"; callId: string; name: string; input: string }
  | { kind: "toolResult"; callId: string; text: string };

/** A part of a model's reply. */
export type ReplyPart =
  | { kind: "text"; text: string }
  | { kind: "thinking"; text: string }
  | { kind: "toolCall"; callId: string; name: string; input: string };

/** A tool that may be called; `inputSchema` is JSON text. */
export interface ChatTool {
  name: string;
  description: string;
  inputSchema: string;
}

/** Why no whole reply came; `said` are the words of the editor or the vendor. */
export interface ChatFailure {
  reason: "notAllowed" | "blocked" | "quota" | "busy" | "gone" | "other";
  said: string;
}

/** A problem that the editor shows in a file. */
export interface Problem {
  uri: string;
  /** Counts from 1. */
  line: number;
  severity: "error" | "warning" | "information" | "hint";
  source: string;
  message: string;
}
