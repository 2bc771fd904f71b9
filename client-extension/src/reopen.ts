/** Opens the session of the last time. No VS Code in here. */

import type { Snapshot } from "./protocol";

/** How often a session that is still held by another process is asked for again, before another is opened. */
const MOST_ATTEMPTS = 20;

export interface Reopened {
  snapshot: Snapshot;
  /** Why it is not the session that was remembered; undefined where it is, and where that one is simply gone. */
  passedOver?: string;
}

/**
 * Opens the remembered session, else the most recent one, else a new one.
 *
 * After a reload of the window the server of the old window may hold the session for a moment longer: it is waited for.
 *
 * Where another window has it, a new one is started: any other would be one that nobody asked for.
 *
 * @param open asks the server, and rejects with its error.
 * @param start asks it for a new session.
 * @param pause between two attempts.
 */
export async function reopen(
  open: (sessionId: string | undefined) => Promise<Snapshot>,
  start: () => Promise<Snapshot>,
  remembered: string | undefined,
  pause: () => Promise<void>,
): Promise<Reopened> {
  if (remembered === undefined) {
    return { snapshot: await open(undefined) };
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      return { snapshot: await open(remembered) };
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === "session_busy" && attempt < MOST_ATTEMPTS) {
        await pause();
      } else if (reason === undefined) {
        throw error;
      } else {
        const passedOver = reason === "unknown_session" || !(error instanceof Error) ? undefined : error.message;
        return { snapshot: await (passedOver === undefined ? open(undefined) : start()), passedOver };
      }
    }
  }
}

/** The reason in an error that the server made for the user; undefined for any other error. */
export function reasonOf(error: unknown): string | undefined {
  return (error as { data?: { reason?: string } } | undefined)?.data?.reason;
}
