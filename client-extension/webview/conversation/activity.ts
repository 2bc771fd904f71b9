/**
 * What goes on: the line below the newest item (working, compacting, waiting to try again), and what a screen reader is told without being asked:
 * finished answers, questions, compactions. Not every chunk of a stream.
 */

import { t } from "../../src/l10n";
import type { Item, RetryInfo, SessionState } from "../../src/protocol";
import { isQuestion, waitsForUser } from "../../src/session/approvals";
import { element, icon, setChildren } from "../dom";
import { compactionSizes, compactionTitle } from "../history/compactionText";
import { failureInWords } from "../../src/session/runningText";
import type { SessionView } from "../state";

/** The line below the newest item. */
export class Activity {
  readonly element = element("div", { className: "activity" });
  private countdown: ReturnType<typeof setInterval> | undefined;
  private drawn: [SessionState, RetryInfo | undefined, boolean] | undefined;

  update(session: SessionView): void {
    const waits = session.items.some(waitsForUser);
    const next: NonNullable<typeof this.drawn> = [session.state, session.retry, waits];
    if (this.drawn?.every((value, index) => value === next[index])) {
      return;
    }
    this.drawn = next;
    clearInterval(this.countdown);
    this.element.hidden = session.state === "idle" || waits;
    if (session.retry !== undefined) {
      const { retry } = session;
      this.drawRetry(retry);
      this.countdown = setInterval(() => this.drawRetry(retry), 1000);
    } else {
      this.draw(session.state === "compacting" ? t("Compacting") : t("Working"));
    }
  }

  private drawRetry(retry: RetryInfo): void {
    const seconds = Math.max(0, Math.ceil(retry.at - Date.now() / 1000));
    const { reason, attempt } = retry;
    setChildren(
      this.element,
      icon("history"),
      element("span", {
        textContent:
          seconds === 0
            ? t("{reason}. Trying again now (attempt {attempt})", { reason, attempt })
            : t("{reason}. Trying again in {seconds} s (attempt {attempt})", { reason, seconds, attempt }),
      }),
    );
  }

  private draw(text: string): void {
    const dots = element("span", { className: "dots", attributes: { "aria-hidden": "true" } }, element("i"), element("i"), element("i"));
    setChildren(this.element, dots, element("span", { textContent: text }));
  }
}

/** Milliseconds that a screen reader has to pick up what is said. */
const SAID_FOR = 3_000;

/** What a screen reader is told. */
export class Announcer {
  private readonly polite = element("div", { attributes: { "aria-live": "polite" } });
  private readonly assertive = element("div", { attributes: { "aria-live": "assertive" } });
  readonly element = element("div", { className: "screen-reader-only" }, this.polite, this.assertive);
  private readonly clearing = new Map<HTMLElement, ReturnType<typeof setTimeout>>();
  private before: SessionView | undefined;

  update(session: SessionView): void {
    const { before } = this;
    this.before = session;
    if (before === undefined || before.sessionId !== session.sessionId) {
      return;
    }
    const last = session.items.at(-1);
    if (before.state === "running" && session.state === "idle" && last?.kind === "assistant") {
      this.say(this.polite, last.text);
    }
    const failed = new Set((before.running ?? []).filter((each) => each.failed === true).map(({ id }) => id));
    const failure = (session.running ?? []).find((each) => each.failed === true && !failed.has(each.id));
    if (failure !== undefined) {
      this.say(this.polite, failureInWords(failure));
    }
    const known = new Map(before.items.slice(-20).map((item) => [item.id, item]));
    for (const item of session.items.slice(-20)) {
      if (known.get(item.id) !== item) {
        this.announce(item, known.get(item.id));
      }
    }
  }

  private announce(item: Item, before: Item | undefined): void {
    if (
      item.kind === "toolCall" &&
      item.status === "awaiting_permission" &&
      !(before?.kind === "toolCall" && before.permissionId === item.permissionId)
    ) {
      this.say(this.assertive, `${t("Approval needed: {title}.", { title: item.title })} ${item.permissionReason ?? ""}`);
    } else if (item.kind === "toolCall" && isQuestion(item) && !(before !== undefined && isQuestion(before))) {
      this.say(
        this.assertive,
        t("The agent asks: {question}", { question: (item.questions ?? []).map(({ question }) => question).join(" ") }),
      );
    } else if (item.kind === "compaction" && item.status !== "in_progress") {
      this.say(this.polite, `${compactionTitle(item)} ${compactionSizes(item)}`);
    } else if (item.kind === "notice") {
      this.say(this.polite, item.text);
    }
  }

  /** What was said does not stay: who walks through the page would meet it again, and the same words twice would be said once. */
  private say(region: HTMLElement, text: string): void {
    region.textContent = text;
    clearTimeout(this.clearing.get(region));
    this.clearing.set(
      region,
      setTimeout(() => region.replaceChildren(), SAID_FOR),
    );
  }
}
