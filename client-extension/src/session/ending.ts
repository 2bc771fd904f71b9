/** Whether the server may be ended, with the commands that run in it: asked once, and not again while that is being done. No VS Code in here. */

/** The user wants the commands to go on. The message says what became of what they had asked for. */
export class Declined extends Error {}

export class Ending {
  private asking: Promise<boolean> | undefined;
  /** How many are at it, after the user has agreed. */
  private agreed = 0;

  /** Several who want to know at once are answered by one answer. @param ask gives what the user answers, and true where nothing runs */
  mayEnd(ask: () => Promise<boolean>): Promise<boolean> {
    if (this.agreed > 0) {
      return Promise.resolve(true);
    }
    this.asking ??= ask().finally(() => (this.asking = undefined));
    return this.asking;
  }

  /**
   * Does what ends the server, if the user agrees. What this changes, such as the key, has the server started again, too: nobody is asked for that.
   *
   * @throws Declined with that message; nothing was done then.
   */
  async agreedTo(ask: () => Promise<boolean>, task: () => Promise<void>, declined: string): Promise<void> {
    if (!(await this.mayEnd(ask))) {
      throw new Declined(declined);
    }
    this.agreed += 1;
    try {
      await task();
    } finally {
      this.agreed -= 1;
    }
  }
}
