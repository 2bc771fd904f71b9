/** What the quick picks of sessions say and ask: sessions, hits of a search, what can be imported. No VS Code in here. */

import { dateLanguage, plural, t } from "../l10n";
import type { BroughtSession, ParamsOf, ResultOf, SearchHit, SessionSummary } from "../protocol";
import { linesInWords } from "../review/reviewText";
import { labelText } from "../visible";
import { ageOf, fullnessOf, notesOf, openFilesOf, STATUSES, statusOf } from "./sessionRows";

/** What stands beside the title. `now` is in Unix seconds. */
export function descriptionOf(summary: SessionSummary, isActive: boolean, now: number): string {
  const icon = STATUSES[statusOf(summary)].icon;
  const [word, ...notes] = notesOf(summary, isActive);
  const first = icon === "" || word === undefined ? word : `$(${icon}${icon === "loading" ? "~spin" : ""}) ${word}`;
  const { words } = fullnessOf(summary) ?? {};
  const { added, removed } = summary.figures ?? {};
  const lines = openFilesOf(summary) === "" ? "" : linesInWords({ added: added ?? 0, removed: removed ?? 0 });
  return [first, ...notes, words === undefined ? "" : t("{share} full", { share: words }), lines, ageOf(summary.updatedAt, now)]
    .filter(Boolean)
    .join(" · ");
}

/** Characters shown before the first word that was searched for: a row is cut at its end, and the word has to be in it. */
const LEAD = 24;

interface HitTexts {
  label: string;
  detail: string;
  /** Name of the icon of who said it. */
  icon: string;
}

/** For a quick pick: what was said, from the words that were searched for on; below it by whom, when and where. */
export function hitTexts({ sessionTitle, what, excerpt, at }: SearchHit, query: string): HitTexts {
  const when = new Date(at * 1000).toLocaleString(dateLanguage(), { dateStyle: "medium", timeStyle: "short" });
  const { icon, word } = SPEAKERS[what] ?? { icon: "tools", word: what };
  return {
    label: plain(fromFirstWord(excerpt.replace(/\s+/g, " "), query)),
    detail: plain(`${word} · ${when} · ${sessionTitle || t("New session")}`),
    icon,
  };
}

const SPEAKERS: Record<string, { icon: string; word: string }> = {
  user: { icon: "account", word: t("you") },
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
export type SessionsToImport = ParamsOf<"ullage/workspace/import">;

/** A line of the quick pick. */
export interface ImportChoice {
  label: string;
  description: string;
  chosen: SessionsToImport;
}

/** Titles that the question shows before the user says that the sessions are theirs. */
const MOST_SHOWN = 20;

/** What there is to choose. */
export function choicesOf({ brought, gone }: Importable): ImportChoice[] {
  const here = sessionsInWords(brought.length);
  const ofThisFolder: ImportChoice[] = [
    { label: t("Read the sessions of this folder"), description: t("{here} in .ullage, as somebody else's", { here }), chosen: {} },
    {
      label: t("The sessions of this folder are mine…"),
      description: t("{here} in .ullage, to be gone on with", { here }),
      chosen: { mine: true },
    },
  ];
  const moved = gone.map(({ folder, sessions, updatedAt }) => ({
    label: labelText(folder),
    description: t("{sessions} of a folder that is gone, last used {day}", { sessions: sessionsInWords(sessions), day: day(updatedAt) }),
    chosen: { fromGone: folder },
  }));
  return [...(brought.length > 0 ? ofThisFolder : []), ...moved];
}

/** What stands below the question whether they are the user's own: all that is taken. */
export function importQuestion(brought: readonly BroughtSession[], tracked: boolean): string {
  const shown = [...brought].toSorted((one, other) => other.updatedAt - one.updatedAt).slice(0, MOST_SHOWN);
  const lines = shown.map(({ title, updatedAt, entries, waiting }) => {
    const more = waiting > 0 ? counted(waiting, t("{count} prompt not sent yet"), t("{count} prompts not sent yet")) : "";
    const size = [counted(entries, t("{count} entry"), t("{count} entries")), more].filter(Boolean).join(", ");
    return `${day(updatedAt)}  ${title === "" ? t("(no title)") : title} (${size})`;
  });
  const rest = brought.length - shown.length;
  return [
    ...lines,
    ...(rest > 0 ? [counted(rest, t("and {count} other"), t("and {count} others"))] : []),
    ...(tracked ? [t("Git tracks .ullage: these sessions came with the repository. Whoever wrote it may have written them.")] : []),
    t("Once they are yours, what stands in them is sent to the model as your own words."),
  ].join("\n");
}

/** `2 sessions`. */
function sessionsInWords(count: number): string {
  return counted(count, t("{count} session"), t("{count} sessions"));
}

/** As `plural`, with separators of thousands. */
export function counted(count: number, one: string, other: string): string {
  return plural(count, one, other, { count: count.toLocaleString("en") });
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
