/** What the server says when it refuses. No VS Code in here. */

import { USER_ERROR_CODE } from "./protocol";

/** The reason of a refusal as PROTOCOL.md names it; undefined for any other error. */
export function reasonOf(error: unknown): string | undefined {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { reason?: unknown } | null };
  const reason = code === USER_ERROR_CODE ? data?.reason : undefined;
  return typeof reason === "string" ? reason : undefined;
}

const MADE_TO_FIT = new Map([
  ["does_not_fit", "clear old results"],
  ["fits_only_cut", "cut old messages"],
]);

/** The way out where an undo, or a redo, was refused for that reason: it would be larger than the window. Undefined where there is none. */
export function fitOffer(verb: "undo" | "redo", reason: string | undefined): string | undefined {
  const way = MADE_TO_FIT.get(reason ?? "");
  return way === undefined ? undefined : `${verb === "undo" ? "Undo" : "Redo"}, and ${way}`;
}
