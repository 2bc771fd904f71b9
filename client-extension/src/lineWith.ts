/** Finding a line again in a text. No VS Code in here. */

/** Which line it is (from 0): the first that is the same, else the first that holds it; undefined where none does. */
export function lineWith(text: string, wanted: string): number | undefined {
  if (wanted.trim() === "") {
    return undefined;
  }
  const lines = text.split(/\r?\n/);
  const same = lines.indexOf(wanted);
  const found = same >= 0 ? same : lines.findIndex((line) => line.includes(wanted.trim()));
  return found >= 0 ? found : undefined;
}
