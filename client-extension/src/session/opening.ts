/**
 * Opening a session: which one it is after the window was opened or the server started again, and that what is asked about it meanwhile waits. No
 * VS Code in here.
 */

import type { Snapshot } from "../protocol";
import { reasonOf } from "../server/answers";

/** A session that is being opened: what is asked about it meanwhile waits. */
export class Opening {
  private work: Promise<unknown> = Promise.resolve();

  /** Whatever `settled` is asked from now on waits for `work`, however that ends. */
  during<T>(work: Promise<T>): Promise<T> {
    this.work = work.catch(() => undefined);
    return work;
  }

  /** Resolves when nothing is being opened any more. */
  async settled(): Promise<void> {
    for (let waitedFor: Promise<unknown> | undefined; waitedFor !== this.work;) {
      waitedFor = this.work;
      await waitedFor;
    }
  }
}

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
