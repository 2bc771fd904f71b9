/** What the line of a tool call shows at its ends: what kind of call it is, and how it stands. */

import { t } from "../../src/l10n";
import type { ToolCallItem, ToolKind, ToolStatus } from "../../src/protocol";
import { isStoppedByUser, TASK } from "./agent";
import { ASK_USER } from "./question";
import { isRefusedByRule, isWhole } from "./toolText";

const KIND_ICONS: Record<ToolKind, string> = {
  read: "file",
  edit: "edit",
  search: "search",
  execute: "terminal",
  think: "lightbulb",
  fetch: "globe",
  other: "tools",
};

const OWN_ICONS: Partial<Record<string, string>> = { [ASK_USER]: "comment-discussion", [TASK]: "robot" };

/** What the call does, as an icon. */
export function iconOf({ name, toolKind }: ToolCallItem): string {
  return OWN_ICONS[name] ?? KIND_ICONS[toolKind];
}

interface StatusMark {
  icon: string;
  label: string;
  /** Class for its colour. */
  name: string;
}

const STATUS: Record<ToolStatus, StatusMark> = {
  pending: { icon: "loading codicon-modifier-spin", label: t("Being written"), name: "pending" },
  awaiting_permission: { icon: "question", label: t("Waits for your approval"), name: "awaiting_permission" },
  awaiting_answer: { icon: "comment-unresolved", label: t("Waits for your answer"), name: "awaiting_answer" },
  running: { icon: "loading codicon-modifier-spin", label: t("Running"), name: "running" },
  completed: { icon: "check", label: t("Done"), name: "completed" },
  failed: { icon: "error", label: t("Failed"), name: "failed" },
  cancelled: { icon: "debug-stop", label: t("Stopped"), name: "cancelled" },
};
const WAITS: StatusMark = { icon: "clock", label: t("Waits for its turn"), name: "pending" };
const UNANSWERED: StatusMark = { icon: "circle-slash", label: t("Not answered"), name: "refused" };
const FAILURES: Record<NonNullable<ToolCallItem["failure"]>, StatusMark> = {
  refused: { icon: "circle-slash", label: t("Refused by you"), name: "refused" },
  not_found: { icon: "search-stop", label: t("File not found"), name: "not_found" },
};
const BY_RULE: StatusMark = { ...FAILURES.refused, label: t("Refused by a rule of yours") };

/** What stands at the end of its line. A call whose input is whole and that does not run yet waits for those before it. */
export function statusOf({ status, failure, input, output, name, answers }: ToolCallItem): StatusMark {
  if (name === ASK_USER && !answers?.length && isOver(status)) {
    return UNANSWERED;
  }
  if (status === "failed" && failure === "refused" && isRefusedByRule(output)) {
    return BY_RULE;
  }
  if (status === "failed" && name === TASK && isStoppedByUser(output)) {
    return STATUS.cancelled;
  }
  if (status === "failed" && failure != null) {
    return FAILURES[failure];
  }
  return status === "pending" && isWhole(input) ? WAITS : STATUS[status];
}

/** Nothing more comes of the call. */
export function isOver(status: ToolStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
