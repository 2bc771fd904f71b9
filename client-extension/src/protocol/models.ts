/** Models that can be chosen. Mirrors `server/ullage/lsp/protocol/models.py`. */

import type { Optional } from "./items";

/** A model that an endpoint offers. */
export interface OfferedModel {
  name: string;
  displayName: string;
  /** Tokens; absent where nobody tells. */
  window?: Optional<number>;
  /** Dollars per million tokens. */
  prices?: Optional<{ input: number; output: number }>;
}
