/**
 * Temporary files in memory, for tests.
 *
 * The log is on disk before anything depends on it, so each of the tests' thousands of sessions waits for the disk many times. What a killed
 * process has written is there in memory as well; only a loss of power would differ, and no test makes one.
 */

import { mkdtemp, rm, statfs } from "node:fs/promises";
import { join } from "node:path";

/** Where Linux has a file system in memory that everybody may use. */
const MEMORY = "/dev/shm";

/** Bytes that have to be free there; containers often have 64 MB, and the tests of Python leave more. */
const NEEDED = 2 ** 31;

/**
 * Do something with a temporary folder in memory that goes afterwards, or with the system's own where there is none.
 *
 * @template T
 * @param {(environment: NodeJS.ProcessEnv) => Promise<T>} action gets the variables that name the folder
 * @returns {Promise<T>}
 */
export async function withTemporary(action) {
  const free = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  if (free < NEEDED) return action({});
  const folder = await mkdtemp(join(MEMORY, "ullage-"));
  try {
    return await action({ TMPDIR: folder });
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
