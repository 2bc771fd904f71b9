/** What the user always allows, in groups. No VS Code in here. */

import type { Allowed } from "./protocol";

export interface AllowedGroup {
  title: string;
  members: Allowed[];
}

const TITLES: Record<string, string> = { command: "Commands", edit: "Edits", host: "Hosts" };

/** By kind of action, in the order in which they come. A kind that is not known is named as it is. */
export function groupsOf(allowed: readonly Allowed[]): AllowedGroup[] {
  const groups = new Map<string, Allowed[]>();
  for (const each of allowed) {
    groups.set(each.action, [...(groups.get(each.action) ?? []), each]);
  }
  return [...groups].map(([action, members]) => ({ title: TITLES[action] ?? action, members }));
}
