/** How often a server that ends by itself is started again. No VS Code and no clock in here. */

const MOST_RESTARTS = 4;
const WITHIN_MILLISECONDS = 3 * 60 * 1000;

/** Allows 4 restarts in any 3 minutes: enough for a passing fault, too few for a loop. */
export class RestartPolicy {
  private readonly ends: number[] = [];

  /** Records that the server ended at `now` (milliseconds). True where it should be started again. */
  allowsRestart(now: number): boolean {
    while (this.ends[0] !== undefined && this.ends[0] <= now - WITHIN_MILLISECONDS) {
      this.ends.shift();
    }
    this.ends.push(now);
    return this.ends.length <= MOST_RESTARTS;
  }

  /** Forgets what was recorded: the user asked for a start. */
  reset(): void {
    this.ends.length = 0;
  }
}
