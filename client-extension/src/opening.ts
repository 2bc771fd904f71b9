/** A session that is being opened: what is asked about it meanwhile waits. No VS Code in here. */

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
