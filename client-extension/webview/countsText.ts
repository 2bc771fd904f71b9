/** What a compaction took out of the model's view, in the same words wherever it is said: preview, card and timeline. Pure. */

import type { PreviewLine } from "../src/protocol";

/** Messages, as the panel shows them: prompts, replies in words, results of tools. */
export interface MessageCounts {
  summarised: number;
  cleared: number;
  snipped: number;
}

/** `12 messages summarised`, `1 tool result set aside`: what there is of each. */
export function countsInWords({ summarised, cleared, snipped }: MessageCounts): string[] {
  return [
    counted(summarised, "message summarised", "messages summarised"),
    counted(cleared, "tool result set aside", "tool results set aside"),
    counted(snipped, "message cut from the middle", "messages cut from the middle"),
  ].filter((words) => words !== "");
}

/** Whether a row counts as a message: what only the model is told does not, nor what a compaction left. */
export function isMessage({ role }: Pick<PreviewLine, "role">): boolean {
  return role !== "notice" && role !== "record";
}

export function counted(count: number, one: string, many: string): string {
  return count === 0 ? "" : `${count} ${count === 1 ? one : many}`;
}
