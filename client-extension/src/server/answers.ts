/** What is known of the server and what comes back from it: its status, a refusal, or nothing because it is gone. The panel uses it too. */

import { t } from "../l10n";
import { USER_ERROR_CODE } from "../protocol";

export interface ServerStatus {
  state: "starting" | "running" | "restarting" | "stopped";
  /** What happened or what is being done, for the user. */
  message?: string;
}

/** The reason of a refusal as PROTOCOL.md names it; undefined for any other error. */
export function reasonOf(error: unknown): string | undefined {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { reason?: unknown } | null };
  const reason = code === USER_ERROR_CODE ? data?.reason : undefined;
  return typeof reason === "string" ? reason : undefined;
}

const MADE_TO_FIT = {
  undo: new Map([
    ["does_not_fit", t("Undo, and clear old results")],
    ["fits_only_cut", t("Undo, and cut old messages")],
  ]),
  redo: new Map([
    ["does_not_fit", t("Redo, and clear old results")],
    ["fits_only_cut", t("Redo, and cut old messages")],
  ]),
};

/** The way out where an undo, or a redo, was refused for that reason: it would be larger than the window. Undefined if there is none. */
export function fitOffer(verb: "undo" | "redo", reason: string | undefined): string | undefined {
  return MADE_TO_FIT[verb].get(reason ?? "");
}

/** What the JSON-RPC library rejects with when the connection ends under a request: `PendingResponseRejected`, `ConnectionInactive`. */
const CONNECTION_ENDED = new Set([-32097, -32096]);

/** The server ended before it answered. Whether it comes back is not known here. */
export class ServerGone extends Error {
  constructor() {
    super(t("The Ullage server ended before it answered"));
  }
}

/**
 * The answer, or what it was rejected with.
 *
 * @param isStillThere whether the server that was asked is the one that runs now.
 * @throws ServerGone where the server ended before it answered.
 */
export async function answered<Result>(answer: Promise<Result>, isStillThere: () => boolean): Promise<Result> {
  try {
    return await answer;
  } catch (error) {
    if (!isStillThere() || CONNECTION_ENDED.has((error as { code?: number } | undefined)?.code ?? 0)) {
      throw new ServerGone();
    }
    throw error;
  }
}

/** Whether an answer, or a failure, is there within that many milliseconds: what is soon over need not say that it goes on. */
export async function settlesWithin(answer: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), milliseconds)));
  const settled = answer.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([settled, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}
