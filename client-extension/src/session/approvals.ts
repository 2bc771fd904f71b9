/** What waits for the user in a session, approvals and questions of the agent, as far as the host has to know of it. No VS Code in here. */

import { plural, t } from "../l10n";
import type { Item, ToolCallItem, Update } from "../protocol";
import { visibleLine } from "../visible";

/** Characters of a question that a notification shows whole. What is longer is looked at in the panel before it is allowed. */
const SHOWN_WHOLE = 160;

/** Characters of an option that a button of a notification shows. */
const SHOWN_ON_A_BUTTON = 40;

/**
 * The keys of the manifest while a question waits. Outside of the panel there is one more to hold: Ctrl+Shift+Enter puts a line into an editor,
 * and nobody should allow what they only wanted to write.
 */
export const APPROVAL_KEYS = {
  anywhere: { allow: "Ctrl+Alt+Shift+Enter", refuse: "Ctrl+Alt+Shift+Backspace", next: "Ctrl+Alt+Shift+U" },
  inPanel: { allow: "Ctrl+Shift+Enter", refuse: "Ctrl+Shift+Backspace" },
} as const;

/** Approvals and questions among the items of a snapshot, oldest first. */
export function waitingIn(items: readonly Item[]): readonly ToolCallItem[] {
  return items.filter((item) => item.kind === "toolCall").filter(waitsForUser);
}

/** Those that wait after an update; the same array where nothing has changed. */
export function waitingAfter(waiting: readonly ToolCallItem[], update: Update): readonly ToolCallItem[] {
  if (update.kind === "remove") {
    return without(waiting, update.itemId);
  }
  if (update.kind !== "item" || update.item.kind !== "toolCall") {
    return waiting;
  }
  const { item } = update;
  if (!waitsForUser(item)) {
    return without(waiting, item.id);
  }
  const index = waiting.findIndex(({ id }) => id === item.id);
  return index < 0 ? [...waiting, item] : waiting.with(index, item);
}

/** Whether the turn goes on only when the user has answered it, as an approval or as a question. */
export function waitsForUser(item: Item): boolean {
  return isApproval(item) || isQuestion(item);
}

export function isApproval(item: Item): boolean {
  return item.kind === "toolCall" && item.status === "awaiting_permission";
}

export function isQuestion(item: Item): boolean {
  return item.kind === "toolCall" && item.status === "awaiting_answer";
}

/** What a notification asks. */
interface ApprovalQuestion {
  text: string;
  /** Whether all that would be allowed can be read in it. */
  whole: boolean;
}

/** Of an edit the panel alone shows the change; it is named here, and can be refused. */
export function questionOf(item: ToolCallItem): ApprovalQuestion {
  const { permissionReason, title, toolKind, agent } = item;
  const asked = (permissionReason || title).trim();
  const short = asked.length > SHOWN_WHOLE ? `${asked.slice(0, SHOWN_WHOLE)}…` : asked;
  const why = whyAsked(item);
  const name = agent?.name;
  const text =
    name !== undefined
      ? agentAsks(visibleLine(name), short, why)
      : why === undefined
        ? t("Ullage waits for your approval: {short}", { short })
        : t("Ullage waits for your approval: {short}. It is asked because {why}.", { short, why });
  return { text, whole: short === asked && toolKind !== "edit" };
}

function agentAsks(name: string, short: string, why: string | undefined): string {
  return why === undefined
    ? t("The sub-agent {name} waits for your approval: {short}", { name, short })
    : t("The sub-agent {name} waits for your approval: {short}. It is asked because {why}.", { name, short, why });
}

/** What a notification asks for the agent: the question, and its options as buttons where one of them alone can be the whole answer. */
interface AgentsQuestion {
  text: string;
  options: readonly { label: string; optionId: string }[];
}

/**
 * The numbers before the options make it plain that they are the agent's: no button of an approval has one. Where something has to be read
 * or written first, the panel is where one answers.
 */
export function agentsQuestionOf({ questions, title }: ToolCallItem): AgentsQuestion {
  const [question, ...more] = questions ?? [];
  const asked = (more.length > 0 || question === undefined ? title : question.question).trim();
  const short = asked.length > SHOWN_WHOLE ? `${asked.slice(0, SHOWN_WHOLE)}…` : asked;
  const isPlain =
    question !== undefined &&
    more.length === 0 &&
    question.multiSelect !== true &&
    short === asked &&
    question.options.every(({ label }) => label.length <= SHOWN_ON_A_BUTTON);
  return {
    text: t("The agent asks you, and an answer allows nothing: {short}", { short }),
    options: isPlain
      ? question.options.map(({ label, optionId }, index) => ({ label: `${index + 1}. ${visibleLine(label)}`, optionId }))
      : [],
  };
}

/** The one reason for which a command is asked about; undefined if there are several, or it is no command. */
function whyAsked({ asked }: ToolCallItem): string | undefined {
  const whys = new Set(asked?.action === "command" ? asked.parts.filter(({ standing }) => standing === "asked").map(({ why }) => why) : []);
  const [why] = whys;
  return whys.size === 1 && why !== undefined && why.length <= SHOWN_WHOLE ? why : undefined;
}

/** `1 approval waits for you · 1 question waits for you`. */
export function waitingInWords(approvals: number, questions: number): string {
  return [
    ...(approvals > 0 ? [plural(approvals, t("{count} approval waits for you"), t("{count} approvals wait for you"))] : []),
    ...(questions > 0 ? [plural(questions, t("{count} question waits for you"), t("{count} questions wait for you"))] : []),
  ].join(" · ");
}

/** Remembers what was asked by a notification. */
export class Reminders {
  private readonly asked = new Set<string>();

  /** What a notification asks now: each question once, and only while nobody looks at the panel. */
  toAsk(waiting: readonly ToolCallItem[], looks: boolean): readonly ToolCallItem[] {
    const found = looks ? [] : waiting.filter((item) => !this.asked.has(idOf(item)));
    for (const item of found) {
      this.asked.add(idOf(item));
    }
    return found;
  }
}

function idOf({ permissionId, questionId, id }: ToolCallItem): string {
  return permissionId ?? questionId ?? id;
}

function without(approvals: readonly ToolCallItem[], id: string): readonly ToolCallItem[] {
  return approvals.some((known) => known.id === id) ? approvals.filter((known) => known.id !== id) : approvals;
}
