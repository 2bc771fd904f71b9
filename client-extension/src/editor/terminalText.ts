/** What a terminal was told to show, as plain text. No VS Code in here. The model reads it, so it is English. */
/* oxlint-disable ullage/untranslated */

/** A command of a terminal. Its output is as it came, with all that steers the terminal; `exitCode` is undefined if nobody knows. */
export interface ToldCommand {
  line: string;
  output: string;
  ended: boolean;
  exitCode: number | undefined;
}

/** Characters of an output that are kept: its end, with what steers the terminal. */
const KEPT = 100_000;
/** Characters of it that are told: the end of a log is what one asks about. */
const TOLD = 28_000;

/** The output with more of it. Cut now and then only, since that copies all of it. */
export function keptEnd(output: string, more: string): string {
  const whole = output + more;
  return whole.length > 2 * KEPT ? whole.slice(-KEPT) : whole;
}

/** The command, what it showed, and how it ended. */
export function commandTold({ line, output, ended, exitCode }: ToldCommand): string {
  const shown = plainText(output).trim();
  const told = shown.length > TOLD ? `[cut here: the end of ${shown.length} characters]\n${shown.slice(-TOLD)}` : shown;
  const end = !ended ? "(still running)" : exitCode === undefined ? "" : `(exit code ${exitCode})`;
  return [`$ ${line}`, told || "(no output was seen)", end].filter(Boolean).join("\n");
}

// What steers a terminal is made of control characters.
const STEERING = new RegExp(
  [
    String.raw`\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)`, // titles, links, marks of the shell integration
    String.raw`\x1b[P^_X][^\x1b]*\x1b\\`,
    String.raw`\x1b\[[0-?]*[ -/]*[@-~]`, // colours and moves
    String.raw`\x1b[ -/]*[0-~]`,
  ].join("|"),
  "g",
);

/** As it stands on the screen, nearly: colours are gone, and of a line that was written over again its last form stays. */
export function plainText(output: string): string {
  return output
    .replace(STEERING, "")
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => lastForm(line))
    .join("\n");
}

function lastForm(line: string): string {
  const forms = line.split("\r").filter((form) => form !== "");
  const last = forms.at(-1) ?? "";
  return Array.from(last)
    .reduce<string[]>((written, character) => {
      if (character === "\b") {
        written.pop();
      } else if (character >= " " || character === "\t") {
        written.push(character);
      }
      return written;
    }, [])
    .join("");
}
