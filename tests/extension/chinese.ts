/** The extension's texts, as they are written. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./repository";

export const EXTENSION = join(ROOT, "client-extension");

/** The texts of that file. @param name its path in the extension */
export function textsOf(name: string): Record<string, string> {
  return JSON.parse(readFileSync(join(EXTENSION, name), "utf8")) as Record<string, string>;
}

export const CHINESE = textsOf("l10n/bundle.l10n.zh-cn.json");
