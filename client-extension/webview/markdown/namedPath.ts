/** Which file a code block says it is of: after its language, or in a comment that is its first line. Pure. */

/** A path: a name with an ending, perhaps in folders. */
const PATH = /^(?:[\w@.~-]+[/\\])*[\w@.-]*\w\.[A-Za-z][\w-]{0,9}$/;

/** What may stand before a path after the language: `python title="a.py"`, `python:a.py`. */
const KEY = /^(?:path|file|filename|name|title)=/i;

/** The comments of the languages that are usual. */
const COMMENT = /^\s*(?:#|\/\/|--|;|%|\/\*|<!--)\s*(?:file(?:name)?:\s*)?(\S+?)\s*(?:\*\/|-->)?\s*$/i;

/** The path as it is written; undefined where none is named. `info` is what stands after the fence. */
export function namedPath(info: string, content: string): string | undefined {
  const [language = "", ...rest] = info.trim().split(/\s+/);
  const colon = language.indexOf(":");
  const words = [...rest, colon > 0 ? language.slice(colon + 1) : language];
  const named = words.map((word) => word.replace(KEY, "").replace(/^["'{[]+|["'}\]]+$/g, "")).find((word) => PATH.test(word));
  const commented = COMMENT.exec(content.slice(0, content.indexOf("\n") + 1 || undefined).trimEnd())?.[1];
  return named ?? (commented !== undefined && PATH.test(commented) ? commented : undefined);
}
