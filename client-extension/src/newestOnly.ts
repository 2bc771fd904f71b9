/** Asks one question at a time: while one is under way only the newest of those that come is kept. No VS Code, and no clock, in here. */

export class NewestOnly<Question, Answer> {
  private running = false;
  private waiting: { question: Question } | undefined;

  /** @param take gets the answer (or the error) of each question that is still the newest. */
  constructor(
    private readonly ask: (question: Question) => Promise<Answer>,
    private readonly take: (answer: Answer | undefined, error: unknown) => void,
  ) {}

  put(question: Question): void {
    this.waiting = { question };
    if (!this.running) {
      void this.run();
    }
  }

  private async run(): Promise<void> {
    this.running = true;
    while (this.waiting !== undefined) {
      const { question } = this.waiting;
      this.waiting = undefined;
      try {
        this.give(await this.ask(question), undefined);
      } catch (error) {
        this.give(undefined, error);
      }
    }
    this.running = false;
  }

  private give(answer: Answer | undefined, error: unknown): void {
    if (this.waiting === undefined) {
      this.take(answer, error);
    }
  }
}
