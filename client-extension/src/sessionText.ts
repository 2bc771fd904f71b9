/** What the list of sessions says of one. No VS Code in here. */

import type { SessionSummary } from "./protocol";

const STATES = { idle: "", running: "$(sync~spin) running", compacting: "$(sync~spin) compacting" };

/** Its title, or what stands for one before the first prompt. */
export function titleOf(summary: SessionSummary): string {
  return summary.title || "New session";
}

/** What stands beside the title. `now` is in Unix seconds. */
export function descriptionOf(summary: SessionSummary, isActive: boolean, now: number): string {
  return [
    isActive ? "open" : "",
    summary.openElsewhere ? "open in another window" : "",
    summary.foreign ? "imported, read only" : "",
    STATES[summary.state],
    ageOf(summary.updatedAt, now),
  ]
    .filter(Boolean)
    .join(" · ");
}

function ageOf(seconds: number, now: number): string {
  const minutes = Math.max(0, now - seconds) / 60;
  if (minutes < 1) {
    return "just now";
  }
  if (minutes < 60) {
    return `${Math.floor(minutes)} min ago`;
  }
  return minutes < 24 * 60 ? `${Math.floor(minutes / 60)} h ago` : new Date(seconds * 1000).toLocaleDateString();
}
