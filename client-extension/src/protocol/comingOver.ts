/** Sessions of other programs. Mirrors `server/ullage/lsp/protocol/coming_over.py`; see PROTOCOL.md, "The workspace". */

import type { Optional } from "./items";

/** A session of another program. `here`: its agent worked in this workspace; `size` in bytes, nothing if its file holds several. */
export interface OtherSession {
  id: string;
  program: string;
  title: string;
  file: string;
  updatedAt: number;
  here: boolean;
  version?: Optional<string>;
  folder?: Optional<string>;
  size?: Optional<number>;
}

/** What another program had compacted. Of what was `needed` later `kept` stood in its summary; `shownAgain` came once more, `gone` never. */
export interface OtherCompaction {
  /** Whether its summary can be read: else nothing is known of what it lost. */
  readable: boolean;
  needed: number;
  kept: number;
  shownAgain: number;
  gone: number;
  examples: string[];
  charactersAgain: number;
  at?: Optional<number>;
  automatic?: Optional<boolean>;
  tokensBefore?: Optional<number>;
}

/** What a session of another program was. `tokens` are what it would hold here. */
export interface OtherLooked {
  session: OtherSession;
  prompts: number;
  replies: number;
  calls: number;
  /** Places of its file that could not be read. */
  missing: number;
  /** Parts of kinds that this version does not know. */
  unknown: number;
  /** Whether it was looked at what compactions lost: not in very long ones. */
  measured: boolean;
  compactions: OtherCompaction[];
  tokens: number;
  threshold: number;
  model?: Optional<string>;
  beganAt?: Optional<number>;
  endedAt?: Optional<number>;
}
