/** When the user is told that the agent waits or is done, though they look elsewhere: by a notification, a sound, a mark. No VS Code in here. */

import { t } from "../l10n";
import type { EndedTurn, SessionState } from "../protocol";
import { waitingInWords } from "./approvals";

/** What the user wants to be told by (`ullage.notifications.*`). */
export interface Wanted {
  approval: boolean;
  done: boolean;
  sound: boolean;
}

/** What is done now to be noticed. */
export interface Sign {
  notification: { text: string; level: "info" | "warning" } | undefined;
  sound: "waits" | "done" | undefined;
}

interface Badge {
  value: number;
  tooltip: string;
}

const NONE: Sign = { notification: undefined, sound: undefined };

/** Remembers what the user has not looked at yet. */
export class Attention {
  private unseen: string | undefined;
  private approvals = 0;
  private questions = 0;

  /** A turn is over. Who looks at the panel sees that; who stopped it knows it; and while a prompt of the queue follows, it is not the end. */
  turnEnded({ stopReason }: EndedTurn, state: SessionState, title: string, looks: boolean, wanted: Wanted): Sign {
    if (looks || stopReason === "cancelled" || state !== "idle") {
      return NONE;
    }
    const isDone = stopReason === "end_turn";
    this.unseen = isDone ? t("Ullage is done") : t("Ullage stopped before it was done");
    const named = title === "" ? this.unseen : `${this.unseen}: ${title}`;
    return {
      notification: wanted.done ? { text: named, level: isDone ? "info" : "warning" } : undefined,
      sound: wanted.sound && wanted.done ? "done" : undefined,
    };
  }

  /** So many approvals and questions of the agent wait now. What they ask is another's business (`approvalPrompts.ts`). */
  approvalsWait(approvals: number, looks: boolean, wanted: Wanted, questions = 0): Sign {
    const isMore = approvals + questions > this.waited;
    this.approvals = approvals;
    this.questions = questions;
    return { notification: undefined, sound: isMore && !looks && wanted.sound && wanted.approval ? "waits" : undefined };
  }

  /** The user looks at the panel. */
  looked(): void {
    this.unseen = undefined;
  }

  /** Another session is shown. */
  begin(): void {
    this.unseen = undefined;
    this.approvals = this.questions = 0;
  }

  private get waited(): number {
    return this.approvals + this.questions;
  }

  /** The mark at the panel's icon: what waits, else what came to its end unseen. */
  get badge(): Badge | undefined {
    if (this.waited > 0) {
      return { value: this.waited, tooltip: waitingInWords(this.approvals, this.questions) };
    }
    return this.unseen === undefined ? undefined : { value: 1, tooltip: this.unseen };
  }
}
