/** A record of what came before, as Markdown. Pure. */

/**
 * Names of things in code stand in a record as they are: an underscore in them means no emphasis.
 *
 * A record's lines are short, and a folder's name may follow a list at once. Markdown would take it for a part of the list's last entry: an
 * empty line between them keeps it apart.
 */
export function recordMarkdown(text: string): string {
  const apart = text.replace(/^([ \t]*[-*] .*\n)(?=[^\s*-])/gm, "$1\n");
  return apart
    .split(/(`[^`\n]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/_/g, "\\_")))
    .join("");
}
