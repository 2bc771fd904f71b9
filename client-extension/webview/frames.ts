/**
 * When the page works. It is drawn once a frame at most, and less often where a frame takes long, so that the editor beside it has the main thread
 * for most of the time; what came meanwhile is drawn with the next. What can wait is done when there is nothing else to do.
 */

/** The part of the time that drawing may take: one of so many. */
const SHARE = 3;

/** Milliseconds of drawing that are not felt: such frames come as often as the screen shows them. */
const UNNOTICED = 6;

/** The longest wait in milliseconds, so that nothing is ever far behind. */
const LONGEST = 120;

/** What a page has of time, in milliseconds. */
export interface Clock {
  now(): number;
  /** Does it before the next frame is laid out. */
  inFrame(work: () => void): void;
  after(milliseconds: number, work: () => void): void;
}

const OF_THE_PAGE: Clock = {
  now: () => performance.now(),
  inFrame: (work) => void requestAnimationFrame(work),
  after: (milliseconds, work) => void setTimeout(work, milliseconds),
};

export class Frames {
  private isWanted = false;
  /** From the beginning of a drawing until it is known how long it took, with layout and painting. */
  private isDrawing = false;
  /** No frame before that time. */
  private notBefore = 0;
  /** How many drawings ahead of their frame are not painted yet, so that nobody has seen them. */
  private ahead = 0;

  constructor(
    private readonly draw: () => void,
    private readonly clock = OF_THE_PAGE,
  ) {}

  /** Asks for a frame. */
  want(): void {
    if (!this.isWanted) {
      this.isWanted = true;
      this.plan();
    }
  }

  /** Whether all that is drawn was painted, too. */
  get isSeen(): boolean {
    return this.ahead === 0;
  }

  /** Draws at once what waits for a frame: what acts on the page is to find it as it was told to be. */
  catchUp(): void {
    if (!this.isWanted) {
      return;
    }
    this.isWanted = false;
    this.ahead += 1;
    this.clock.inFrame(() => this.clock.after(0, () => (this.ahead -= 1)));
    this.draw();
  }

  private plan(): void {
    if (!this.isDrawing) {
      const wait = this.notBefore - this.clock.now();
      if (wait > 0) {
        this.clock.after(wait, () => this.clock.inFrame(() => this.next()));
      } else {
        this.clock.inFrame(() => this.next());
      }
    }
  }

  private next(): void {
    if (!this.isWanted || this.isDrawing) {
      return; // drawn ahead of its frame; what came since then has a frame of its own
    }
    const began = this.clock.now();
    this.isWanted = false;
    this.isDrawing = true;
    // Runs when the frame has been laid out and painted, which mostly takes longer than making it; also where it could not be made.
    this.clock.after(0, () => {
      const took = this.clock.now() - began;
      this.notBefore = took > UNNOTICED ? began + Math.min(LONGEST, took * SHARE) : 0;
      this.isDrawing = false;
      if (this.isWanted) {
        this.plan();
      }
    });
    this.draw();
  }
}

/** Milliseconds after which it is done in any case. */
const AT_THE_LATEST = 2000;

const waiting: (() => void)[] = [];

/** Does it later, one piece of work after the other. */
export function whenIdle(work: () => void): void {
  waiting.push(work);
  if (waiting.length === 1) {
    next();
  }
}

function next(): void {
  if (typeof requestIdleCallback === "function") {
    requestIdleCallback(doOne, { timeout: AT_THE_LATEST });
  } else {
    setTimeout(doOne);
  }
}

function doOne(): void {
  waiting[0]?.();
  waiting.shift();
  if (waiting.length > 0) {
    next();
  }
}
