/** What is asked and attached from places of the editor, in words. No VS Code in here. */

import { plural, t } from "../l10n";
import type { AttachmentRef, LineRange } from "../protocol";

/** A problem of a file, as a language server reports it. */
export interface ReportedProblem {
  uri: string;
  /** As the user knows the file. */
  path: string;
  lines: LineRange;
  message: string;
  /** Who reports it, and by which code; empty if that is not known. */
  source: string;
}

/** Characters of a text that is in no file: what is longer is a log, which the agent reads better from a file. */
const LONGEST_TEXT = 30_000;

/** A text that is in no file, to be attached. `name` says where it is from. */
export function textOf(name: string, text: string): AttachmentRef {
  return { kind: "text", name, text: text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}\n[cut here]` : text }; // oxlint-disable-line ullage/untranslated -- the model reads it
}

/** What a test said when it failed. Places are `file:line`. */
interface TestFailure {
  /** Of the test, where it is still known. */
  label?: string | undefined;
  said: string;
  expected?: string | undefined;
  actual?: string | undefined;
  at?: string | undefined;
  frames?: readonly { label: string; at?: string | undefined }[] | undefined;
}

/** What stands between the words of a failure. The model reads them, so they are in English everywhere. */
const [EXPECTED, ACTUAL, CALLED_FROM] = ["Expected:", "Actual:", "Called from:"]; // oxlint-disable-line ullage/untranslated -- as said above

/** Calls on the way to a failure that go with it: what comes after is the runner's. */
const MOST_FRAMES = 20;

/** The words of a failed test, to be attached. What the test should have given stands beside what it gave. */
export function failureOf({ label, said, expected, actual, at, frames = [] }: TestFailure): AttachmentRef {
  const compared = expected === undefined ? [] : [EXPECTED, expected, ACTUAL, actual ?? ""];
  const called = frames.slice(0, MOST_FRAMES).map((frame) => `  ${frame.label}${frame.at === undefined ? "" : ` (${frame.at})`}`);
  const lines = [label, at, said, ...compared, ...(called.length === 0 ? [] : [CALLED_FROM, ...called])];
  const name = label === undefined ? t("failure of a test") : t("test {label}", { label });
  return textOf(name, lines.filter((line) => line !== undefined).join("\n"));
}

export type Wish = "fix" | "explain";

/** Lines around a problem that go with it. */
const AROUND = 20;

/** What is asked about problems of one file. */
export function askAbout(wish: Wish, problems: readonly ReportedProblem[]): { text: string; attachments: AttachmentRef[] } {
  const { length } = problems;
  const asked =
    wish === "fix"
      ? plural(length, t("Fix the attached problem."), t("Fix the attached problems."))
      : plural(length, t("Explain the attached problem, and how to solve it."), t("Explain the attached problems, and how to solve them."));
  return { text: length === 0 ? "" : asked, attachments: attachmentsOf(problems) };
}

/**
 * Problems of one file, and the lines around them. Their words, and the name of the file, come from the workspace: so they are attached, and never
 * among what the user says.
 */
export function attachmentsOf(problems: readonly ReportedProblem[]): AttachmentRef[] {
  const [first] = problems;
  if (first === undefined) {
    return [];
  }
  const told = problems.map(
    ({ path, lines, message, source }) => `${path}:${lines.first}: ${message}${source === "" ? "" : ` [${source}]`}`,
  );
  const around = {
    first: Math.max(1, Math.min(...problems.map(({ lines }) => lines.first)) - AROUND),
    last: Math.max(...problems.map(({ lines }) => lines.last)) + AROUND,
  };
  return [
    { kind: "file", uri: first.uri, lines: around },
    { kind: "text", name: plural(problems.length, t("problem"), t("problems")), text: told.join("\n") },
  ];
}

/** The lines of a selection, counted from 1; undefined if nothing is selected. A last line of which nothing is selected does not count. */
export function linesOf(start: { line: number; character: number }, end: { line: number; character: number }): LineRange | undefined {
  if (start.line === end.line && start.character === end.character) {
    return undefined;
  }
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return { first: start.line + 1, last: last + 1 };
}
