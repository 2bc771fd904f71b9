/** Walks through earlier prompts with the arrow keys. Pure. */

export class PromptHistory {
  private entries: readonly string[] = [];
  /** Index in `entries`; their length is the draft. */
  private at = 0;
  private draft = "";

  /** What there is to walk through, oldest first. A walk that is under way goes on. */
  setEntries(entries: readonly string[]): void {
    const fromEnd = this.entries.length - this.at;
    this.entries = entries;
    this.at = Math.max(0, entries.length - fromEnd);
  }

  /** The prompt before; undefined where there is none. `current` is kept as the draft when the walk begins. */
  earlier(current: string): string | undefined {
    if (this.at === this.entries.length) {
      this.draft = current;
    }
    if (this.at === 0) {
      return undefined;
    }
    this.at -= 1;
    return this.entries[this.at];
  }

  /** The prompt after, at the end the draft; undefined where the walk has not begun. */
  later(): string | undefined {
    if (this.at === this.entries.length) {
      return undefined;
    }
    this.at += 1;
    return this.entries[this.at] ?? this.draft;
  }

  /** Whether a walk is under way and the box still holds what it showed. */
  isShowing(text: string): boolean {
    return this.at < this.entries.length && this.entries[this.at] === text;
  }

  /** Ends the walk. */
  reset(): void {
    this.at = this.entries.length;
  }
}
