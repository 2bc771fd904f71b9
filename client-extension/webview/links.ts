/** Where a link in a model's text leads. Pure. Anything that is not plainly a web address or a path leads nowhere. */

export type LinkTarget = { kind: "web"; href: string } | { kind: "file"; path: string; line?: number } | { kind: "none" };

/** Web addresses are opened by the browser; paths by the editor, which refuses those outside of the workspace. */
export function linkTarget(href: string): LinkTarget {
  const address = href.trim();
  if (/^https?:\/\/[^\s]+$/i.test(address)) {
    return { kind: "web", href: address };
  }
  const path = pathOf(address);
  if (path === undefined) {
    return { kind: "none" };
  }
  const match = /^(.+?)(?:#L(\d+)(?:-L?\d+)?|:(\d+)(?::\d+)?)?$/.exec(path);
  const line = match?.[2] ?? match?.[3];
  return { kind: "file", path: match?.[1] ?? path, ...(line === undefined ? {} : { line: Number(line) }) };
}

function pathOf(address: string): string | undefined {
  const bare = address.replace(/^file:\/\/(?=\/)/i, "");
  // A drive letter is no scheme, a line number after a colon neither.
  const isPath =
    bare !== "" &&
    !bare.startsWith("#") &&
    !bare.startsWith("//") &&
    (/^[a-z]:[\\/]/i.test(bare) || !/^[a-z][a-z\d+.-]*:(?!\d+(:\d+)?$)/i.test(bare));
  if (!isPath) {
    return undefined;
  }
  try {
    return decodeURIComponent(bare);
  } catch {
    return undefined;
  }
}
