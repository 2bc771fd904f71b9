/** What the quick picks of sessions say and ask: sessions, hits of a search, what can be imported. No VS Code in here. */

import type { BroughtSession, ParamsOf, ResultOf, SearchHit, SessionSummary } from "../protocol";
import { labelText } from "../visible";

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

/** Characters shown before the first word that was searched for: a row is cut at its end, and the word has to be in it. */
const LEAD = 24;

export interface HitTexts {
  label: string;
  detail: string;
  /** Name of the icon of who said it. */
  icon: string;
}

/** For a quick pick: what was said, from the words that were searched for on; below it by whom, when and where. */
export function hitTexts({ sessionTitle, what, excerpt, at }: SearchHit, query: string): HitTexts {
  const when = new Date(at * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  const { icon, word } = SPEAKERS[what] ?? { icon: "tools", word: what };
  return {
    label: plain(fromFirstWord(excerpt.replace(/\s+/g, " "), query)),
    detail: plain(`${word} · ${when} · ${sessionTitle || "New session"}`),
    icon,
  };
}

const SPEAKERS: Record<string, { icon: string; word: string }> = {
  user: { icon: "account", word: "you" },
  assistant: { icon: "sparkle", word: "Ullage" },
};

/** The text from a little before the first of the words; from its beginning where none of them is far in it. */
function fromFirstWord(text: string, query: string): string {
  const lower = text.toLowerCase();
  const found = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .map((word) => lower.indexOf(word))
    .filter((index) => index >= 0);
  const first = found.length === 0 ? 0 : Math.min(...found);
  if (first <= 2 * LEAD) {
    return text;
  }
  const from = text.indexOf(" ", first - LEAD);
  return `… ${text.slice(from < 0 || from >= first ? first : from + 1)}`;
}

function plain(text: string): string {
  return labelText(text.replace(/\s+/g, " "));
}

/** Asks one question at a time: while one is under way only the newest of those that come is kept. */
export class NewestOnly<Question, Answer> {
  private running = false;
  private waiting: { question: Question } | undefined;

  /** @param take gets the answer (or the error) of each question that is still the newest. */
  constructor(
    private readonly ask: (question: Question) => Promise<Answer>,
    private readonly take: (answer: Answer | undefined, error: unknown) => void,
  ) {}

  put(question: Question): void {
    this.waiting = { question };
    if (!this.running) {
      void this.run();
    }
  }

  private async run(): Promise<void> {
    this.running = true;
    while (this.waiting !== undefined) {
      const { question } = this.waiting;
      this.waiting = undefined;
      try {
        this.give(await this.ask(question), undefined);
      } catch (error) {
        this.give(undefined, error);
      }
    }
    this.running = false;
  }

  private give(answer: Answer | undefined, error: unknown): void {
    if (this.waiting === undefined) {
      this.take(answer, error);
    }
  }
}

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
export function importQuestion(brought: readonly BroughtSession[], tracked: boolean): string {
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

/** A title as the name of a file, without what file systems take amiss. */
export function fileNameOf(title: string): string {
  const name = title
    .replace(/[^\p{Letter}\p{Number}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60);
  return name === "" ? "session" : name;
}
