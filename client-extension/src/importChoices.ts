/** What can be imported, and the question that stands before it, in words. */

import type { BroughtSession, ParamsOf, ResultOf } from "./protocol";
import { labelText } from "./shownText";

export type Importable = ResultOf<"ullage/workspace/importable">;
export type Chosen = ParamsOf<"ullage/workspace/import">;

/** A line of the quick pick. */
export interface Choice {
  label: string;
  description: string;
  chosen: Chosen;
}

/** Titles that the question shows before the user says that the sessions are theirs. */
const MOST_SHOWN = 20;

/** What there is to choose. */
export function choicesOf({ brought, gone }: Importable): Choice[] {
  const here = counted(brought.length, "session", "sessions");
  const ofThisFolder: Choice[] = [
    { label: "Read the sessions of this folder", description: `${here} in .ullage, as somebody else's`, chosen: {} },
    { label: "The sessions of this folder are mine…", description: `${here} in .ullage, to be gone on with`, chosen: { mine: true } },
  ];
  const moved = gone.map(({ folder, sessions, updatedAt }) => ({
    label: labelText(folder),
    description: `${counted(sessions, "session", "sessions")} of a folder that is gone, last used ${day(updatedAt)}`,
    chosen: { fromGone: folder },
  }));
  return [...(brought.length > 0 ? ofThisFolder : []), ...moved];
}

/** What stands below the question whether they are the user's own: all that is taken. */
export function questionOf(brought: readonly BroughtSession[], tracked: boolean): string {
  const shown = [...brought].toSorted((one, other) => other.updatedAt - one.updatedAt).slice(0, MOST_SHOWN);
  const lines = shown.map(({ title, updatedAt, entries, waiting }) => {
    const more = waiting > 0 ? `, ${counted(waiting, "prompt", "prompts")} not sent yet` : "";
    return `${day(updatedAt)}  ${title === "" ? "(no title)" : title} (${counted(entries, "entry", "entries")}${more})`;
  });
  const rest = brought.length - shown.length;
  return [
    ...lines,
    ...(rest > 0 ? [`and ${counted(rest, "other", "others")}`] : []),
    ...(tracked ? ["Git tracks .ullage: these sessions came with the repository. Whoever wrote it may have written them."] : []),
    "Once they are yours, what stands in them is sent to the model as your own words.",
  ].join("\n");
}

/** `2 sessions`. */
export function counted(number: number, one: string, several: string): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : several}`;
}

function day(at: number): string {
  return new Date(at * 1000).toISOString().slice(0, 10);
}
