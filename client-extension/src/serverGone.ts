/** Telling an answer that the server refused from one that never came, because the server is gone. No VS Code in here. */

/** What the JSON-RPC library rejects with when the connection ends under a request: `PendingResponseRejected`, `ConnectionInactive`. */
const CONNECTION_ENDED = new Set([-32097, -32096]);

/** The server ended before it answered. Whether it comes back is not known here. */
export class ServerGone extends Error {
  constructor() {
    super("The Ullage server ended before it answered");
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
