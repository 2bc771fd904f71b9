/** What prompts carry: what is attached to them, commands, answers to questions. Mirrors `server/ullage/lsp/protocol/prompts.py`. */

import type { Optional } from "./items";

/** The first and the last line, counted from 1. */
export interface LineRange {
  first: number;
  last: number;
}

/** What the user attaches to a prompt. */
export type AttachmentRef =
  /** A file, a folder, or a document that was never saved. */
  | { kind: "file"; uri: string; lines?: Optional<LineRange> }
  /** A text that is in no file; `name` says where it is from. */
  | { kind: "text"; name: string; text: string }
  | { kind: "problems" }
  /** A page of the web, which the server fetches once when the prompt is sent. */
  | { kind: "page"; url: string }
  /** A resource of an MCP server, which the server reads when the prompt is sent. */
  | { kind: "resource"; server: string; uri: string }
  /** The base64 of an image, and the name of the file that was dropped. */
  | { kind: "pasted"; data: string; name?: Optional<string> };

/** A command that can be sent as a prompt, as the Agent Client Protocol names them. */
export interface AvailableCommand {
  name: string;
  description: string;
  /** What can follow the name. */
  input?: Optional<{ hint: string }>;
  /** The file of the project that it stands in; none where it is Ullage's own. */
  source?: Optional<string>;
}

/** What the user gives to one question. With neither they leave it out. */
export interface GivenAnswer {
  optionIds?: Optional<string[]>;
  text?: Optional<string>;
}
