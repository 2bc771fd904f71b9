/** The questions of a session that wait for an answer, as far as the host has to know of them. No VS Code in here. */

import { plural, t } from "../l10n";
import type { Item, ToolCallItem, Update } from "../protocol";

/** Characters of a question that a notification shows whole. What is longer is looked at in the panel before it is allowed. */
const SHOWN_WHOLE = 160;

/**
 * The keys of the manifest while a question waits. Outside of the panel there is one more to hold: Ctrl+Shift+Enter puts a line into an editor,
 * and nobody should allow what they only wanted to write.
 */
export const APPROVAL_KEYS = {
  anywhere: { allow: "Ctrl+Alt+Shift+Enter", refuse: "Ctrl+Alt+Shift+Backspace", next: "Ctrl+Alt+Shift+U" },
  inPanel: { allow: "Ctrl+Shift+Enter", refuse: "Ctrl+Shift+Backspace" },
} as const;

/** Those among the items of a snapshot, oldest first. */
export function approvalsIn(items: readonly Item[]): readonly ToolCallItem[] {
  return items.filter((item) => item.kind === "toolCall").filter(waits);
}

/** Those that wait after an update; the same array where nothing has changed. */
export function approvalsAfter(approvals: readonly ToolCallItem[], update: Update): readonly ToolCallItem[] {
  if (update.kind === "remove") {
    return without(approvals, update.itemId);
  }
  if (update.kind !== "item" || update.item.kind !== "toolCall") {
    return approvals;
  }
  const { item } = update;
  if (!waits(item)) {
    return without(approvals, item.id);
  }
  const index = approvals.findIndex(({ id }) => id === item.id);
  return index < 0 ? [...approvals, item] : approvals.with(index, item);
}

/** What a notification asks. */
export interface ApprovalQuestion {
  text: string;
  /** Whether all that would be allowed can be read in it. */
  whole: boolean;
}

/** Of an edit the panel alone shows the change; it is named here, and can be refused. */
export function questionOf(item: ToolCallItem): ApprovalQuestion {
  const { permissionReason, title, toolKind } = item;
  const asked = (permissionReason || title).trim();
  const short = asked.length > SHOWN_WHOLE ? `${asked.slice(0, SHOWN_WHOLE)}…` : asked;
  const why = whyAsked(item);
  const text =
    why === undefined
      ? t("Ullage waits for your approval: {short}", { short })
      : t("Ullage waits for your approval: {short}. It is asked because {why}.", { short, why });
  return { text, whole: short === asked && toolKind !== "edit" };
}

/** The one reason for which a command is asked about; undefined where there are several, or it is no command. */
function whyAsked({ asked }: ToolCallItem): string | undefined {
  const whys = new Set(asked?.action === "command" ? asked.parts.filter(({ standing }) => standing === "asked").map(({ why }) => why) : []);
  const [why] = whys;
  return whys.size === 1 && why !== undefined && why.length <= SHOWN_WHOLE ? why : undefined;
}

/** `1 approval waits`. */
export function approvalsInWords(count: number): string {
  return plural(count, t("{count} approval waits for you"), t("{count} approvals wait for you"));
}

/** Remembers what was asked by a notification. */
export class Reminders {
  private readonly asked = new Set<string>();

  /** What a notification asks now: each question once, and only while nobody looks at the panel. */
  toAsk(approvals: readonly ToolCallItem[], looks: boolean): readonly ToolCallItem[] {
    const found = looks ? [] : approvals.filter(({ permissionId, id }) => !this.asked.has(permissionId ?? id));
    for (const { permissionId, id } of found) {
      this.asked.add(permissionId ?? id);
    }
    return found;
  }
}

function waits(item: ToolCallItem): boolean {
  return item.status === "awaiting_permission";
}

function without(approvals: readonly ToolCallItem[], id: string): readonly ToolCallItem[] {
  return approvals.some((known) => known.id === id) ? approvals.filter((known) => known.id !== id) : approvals;
}
