/** What can be named after `@` in a prompt besides files: what the editor reports and shows, and pages of the web. */

import { withLines } from "../../src/files/fileFacts";
import { t } from "../../src/l10n";
import type { AttachmentRef, McpServer } from "../../src/protocol";
import { visibleLine } from "../../src/visible";
import type { FileSuggestion, Gathered } from "../messages";

/** Something that is always offered after `@`. */
export interface Mention {
  name: "problems" | Gathered;
  label: string;
  detail: string;
  icon: string;
}

const MENTIONS: readonly Mention[] = [
  { name: "problems", label: t("problems"), detail: t("What the editor reports"), icon: "warning" },
  { name: "changes", label: t("changes"), detail: t("Git changes, staged and not"), icon: "git-compare" },
  { name: "staged", label: t("staged"), detail: t("Git changes that are staged"), icon: "git-commit" },
  { name: "terminal", label: t("terminal"), detail: t("The last command and its output"), icon: "terminal" },
  { name: "terminalSelection", label: t("terminalSelection"), detail: t("What is selected in the terminal"), icon: "terminal" },
];

const ICONS = { file: "file", folder: "folder", selection: "selection", symbol: "symbol-method" } as const;

/** A file, folder, symbol or selection that was found, for the menu and for the prompt. */
export function asMention(file: FileSuggestion) {
  const { path, uri, open, kind, lines, name } = file;
  const last = path.slice(path.lastIndexOf("/") + 1);
  const folder = path.slice(0, -last.length - 1);
  const ref: AttachmentRef = { kind: "file", uri, ...(lines === undefined ? {} : { lines }) };
  const detail = name === undefined ? [folder, open ? t("open") : ""].filter(Boolean).join(" · ") : withLines(path, lines);
  return { label: name ?? last, detail, icon: ICONS[kind ?? "file"], written: name ?? path, attached: withLines(last, lines), ref };
}

/** Those whose name begins with what was typed, in English or in the user's language. */
export function mentionsFor(typed: string): Mention[] {
  const wanted = typed.toLowerCase();
  return MENTIONS.filter(({ name, label }) => [name, label].some((each) => each.toLowerCase().startsWith(wanted)));
}

/** Most resources that are offered at once. */
const MOST_RESOURCES = 20;

/** The resources of MCP servers whose names have what was typed in them. What is written has no blank, so that the name ends there. */
export function resourcesFor(typed: string, servers: readonly McpServer[]) {
  const wanted = typed.toLowerCase();
  const all = servers.flatMap(({ name: server, resources }) =>
    resources.map(({ uri, name, description }) => {
      const label = visibleLine(`${server}:${name}`);
      const ref: AttachmentRef = { kind: "resource", server, uri };
      return { label, detail: visibleLine(description ?? uri), icon: "plug", written: label.replaceAll(/\s/g, "_"), ref };
    }),
  );
  return all.filter(({ label }) => label.toLowerCase().includes(wanted)).slice(0, MOST_RESOURCES);
}

/** Milliseconds for which the list of MCP servers is good enough: a menu is made anew with each key. */
const SERVERS_KEPT = 5_000;

/** The resources of MCP servers, as they were a moment ago. */
export class OfferedResources {
  private servers: Promise<readonly McpServer[]> = Promise.resolve([]);
  private at = 0;

  constructor(private readonly list: () => Promise<readonly McpServer[]>) {}

  async matching(typed: string) {
    if (Date.now() - this.at > SERVERS_KEPT) {
      this.at = Date.now();
      this.servers = this.list().catch(() => []);
    }
    return resourcesFor(typed, await this.servers);
  }
}

/** What is being typed after `@` at the end of a text; undefined if nothing is. */
export function typedAfterAt(before: string): string | undefined {
  return (/(?:^|\s)@(https?:\/\/\S*)$/i.exec(before) ?? /(?:^|\s)@([^\s@]*)$/.exec(before))?.[1];
}

/** The text with what is being typed after `@` at its end written out. */
export function withMention(before: string, name: string): string {
  const typed = typedAfterAt(before);
  return typed === undefined ? before : `${before.slice(0, before.length - typed.length)}${name} `;
}

/** Whether a page can be named so. */
export function isPageAddress(typed: string): boolean {
  return /^https?:\/\/[^\s/]+\S*$/i.test(typed) && URL.canParse(typed);
}

/** Notices the pages that a prompt names. Each is attached once: who detaches one has not asked for it again. */
export class NamedPages {
  private known: ReadonlySet<string> = new Set();

  /** Those that are new in the text. `whole` takes one at its very end for named, too: more of it may be typed otherwise. */
  newIn(text: string, whole: boolean): string[] {
    const named = new Set(pagesIn(text, whole));
    const found = [...named].filter((url) => !this.known.has(url));
    this.known = new Set([...named, ...(whole ? [] : [...this.known].filter((url) => text.includes(url)))]);
    return found;
  }

  /** The text is another one, with what is attached to it. */
  know(text: string): void {
    this.known = new Set(pagesIn(text, true));
  }
}

function pagesIn(text: string, whole: boolean): string[] {
  return Array.from(text.matchAll(/(?:^|\s)@(https?:\/\/\S+)(\s|$)/gi))
    .filter(([, , end]) => whole || end !== "")
    .map(([, url = ""]) => withoutStop(url))
    .filter(isPageAddress);
}

/** A mark that ends a sentence or closes a bracket around the address is not part of it. */
function withoutStop(url: string): string {
  const bare = url.replace(/[.,;:!?'">]+$/, "");
  return bare.endsWith(")") && !bare.includes("(") ? withoutStop(bare.slice(0, -1)) : bare;
}
