/** Which files match what was typed after `@`. No VS Code in here. */

interface Rankable {
  path: string;
  open: boolean;
}

/** The best `limit` files whose path has the letters of `query` in order; better matches, then open ones, then shorter paths first. */
export function rankFiles<File extends Rankable>(query: string, files: readonly File[], limit: number): File[] {
  const wanted = query.toLowerCase();
  return files
    .map((file) => ({ file, rank: rankOf(wanted, file.path.toLowerCase()) }))
    .filter(({ rank }) => rank > 0)
    .toSorted(
      (a, b) =>
        b.rank - a.rank ||
        Number(b.file.open) - Number(a.file.open) ||
        a.file.path.length - b.file.path.length ||
        compare(a.file.path, b.file.path),
    )
    .slice(0, limit)
    .map(({ file }) => file);
}

/** 4 the name begins with it, 3 the name has it, 2 the path has it, 1 its letters stand in the path in order, 0 no match. */
function rankOf(wanted: string, path: string): number {
  if (wanted === "") {
    return 1;
  }
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name.startsWith(wanted)) {
    return 4;
  }
  if (name.includes(wanted)) {
    return 3;
  }
  if (path.includes(wanted)) {
    return 2;
  }
  let at = -1;
  for (const letter of wanted) {
    at = path.indexOf(letter, at + 1);
    if (at < 0) {
      return 0;
    }
  }
  return 1;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
