/** A record of what came before, as Markdown. Pure. */

/**
 * A record's lines are short, and a folder's name may follow a list at once. Markdown would take it for a part of the list's last entry: an
 * empty line between them keeps it apart.
 */
export function recordMarkdown(text: string): string {
  return text.replace(/^([ \t]*[-*] .*\n)(?=[^\s*-])/gm, "$1\n");
}
