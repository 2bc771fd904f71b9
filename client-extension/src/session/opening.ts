/**
 * Opening a session: which one it is after the window was opened or the server started again, and that what is asked about it meanwhile waits. No
 * VS Code in here.
 */

import type { Snapshot } from "../protocol";
import { reasonOf } from "../server/answers";

/** Sessions that are being opened: what is asked meanwhile waits, and the one that was asked for last is the one that stays. */
export class Opening {
  private work: Promise<unknown> = Promise.resolve();
  private asked = 0;
  private shown = 0;
  private next = new AbortController();

  /** Is aborted as soon as a session is shown: who still tries to open one that was asked for before that need not go on. */
  get otherShown(): AbortSignal {
    return this.next.signal;
  }

  /**
   * Shows what `work` opens. One that was asked for earlier and comes late does not take its place.
   *
   * Gives whether it was shown. @throws what `work` rejects with.
   */
  async inOrder<T>(work: Promise<T>, show: (opened: T) => void): Promise<boolean> {
    this.asked += 1;
    const place = this.asked;
    const opened = await work;
    if (place < this.shown) {
      return false;
    }
    this.shown = place;
    this.next.abort();
    this.next = new AbortController();
    show(opened);
    return true;
  }

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

interface Reopened {
  snapshot: Snapshot;
  /** Why it is not the session that was remembered; undefined if it is, and where that one is simply gone. */
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
