/** What the server says when it refuses. No VS Code in here. */

import { USER_ERROR_CODE } from "./protocol";

/** The reason of a refusal as PROTOCOL.md names it; undefined for any other error. */
export function reasonOf(error: unknown): string | undefined {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { reason?: unknown } | null };
  const reason = code === USER_ERROR_CODE ? data?.reason : undefined;
  return typeof reason === "string" ? reason : undefined;
}

/** The way out that is offered where an undo, or a redo, would be larger than the window. */
export const FIT_OFFER = { undo: "Undo, and clear old results", redo: "Redo, and clear old results" } as const;
