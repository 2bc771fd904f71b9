/** Where in a file a piece of code belongs that an answer shows: in the place of what it is a new version of. Pure. */

/** Lines from `start` on, `end` excluded, counted from 0, and what takes their place. */
interface Placed {
  start: number;
  end: number;
  lines: string[];
}

/** A block with at least this share of a file's lines is a new version of the whole file. */
const WHOLE_SHARE = 0.6;

/** A line that stands for code that is left out: `...`, `# … rest as before`. */
const LEFT_OUT = /^\s*(?:#|\/\/|--|\/\*|<!--)?\s*(?:\.\.\.|…)/;

/** What closes a block below its last line. */
const CLOSER = /^\s*(?:[}\])]|end\b)/;

/** The place; undefined if it cannot be told. */
export function placeCode(file: string, code: string): Placed | undefined {
  const old = file.split(/\r?\n/);
  const made = withoutBlankEnds(code.split(/\r?\n/));
  const last = old.at(-1) === "" ? old.length - 1 : old.length;
  if (old.every(isBlank)) {
    return { start: 0, end: old.length, lines: [...made, ""] };
  }
  if (made.length === 0 || made.some((line) => LEFT_OUT.test(line))) {
    return undefined;
  }
  const known = new Set(made.map((line) => line.trim()).filter(Boolean));
  const filled = old.filter((line) => !isBlank(line));
  if (filled.filter((line) => known.has(line.trim())).length >= WHOLE_SHARE * filled.length) {
    return { start: 0, end: last, lines: made };
  }
  const first = made[0]?.trim();
  const starts = old.flatMap((line, index) => (line.trim() === first ? [index] : []));
  const [start] = starts;
  if (start === undefined || starts.length > 1) {
    return undefined;
  }
  return { start, end: endOfBlock(old, start), lines: shifted(made, indentOf(old[start] ?? "").slice(indentOf(made[0] ?? "").length)) };
}

/** The line after the last one of what begins there: all that is further in, and what closes it. */
function endOfBlock(lines: readonly string[], start: number): number {
  const indent = indentOf(lines[start] ?? "").length;
  let end = start + 1;
  for (let at = start + 1; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (isBlank(line)) {
      continue;
    }
    const depth = indentOf(line).length;
    if (depth < indent || (depth === indent && !CLOSER.test(line))) {
      break;
    }
    end = at + 1;
  }
  return end;
}

function shifted(lines: readonly string[], by: string): string[] {
  return lines.map((line) => (isBlank(line) ? line : by + line));
}

function withoutBlankEnds(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => !isBlank(line));
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex((line) => !isBlank(line)) + 1);
}

function indentOf(line: string): string {
  return /^\s*/.exec(line)?.[0] ?? "";
}

function isBlank(line: string): boolean {
  return line.trim() === "";
}
