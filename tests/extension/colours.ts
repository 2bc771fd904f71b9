/** What colours the panel's style sheets give in the default themes of VS Code, and how well they are told apart. jsdom computes none. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { THEMES } from "./preview/themes.mjs";
import { ROOT } from "./repository";

const FOLDER = join(ROOT, "client-extension", "webview", "css");

/** All rules of the panel. */
export const PANEL_CSS = readdirSync(FOLDER)
  .map((name) => readFileSync(join(FOLDER, name), "utf8"))
  .join("\n")
  .replaceAll(/\/\*[\s\S]*?\*\//g, "");

/** What the rule with exactly that selector says of a property; undefined where it says nothing. */
export function declared(selector: string, property: string): string | undefined {
  const rules = Array.from(PANEL_CSS.matchAll(/([^{}]+)\{([^{}]*)\}/g), ([, selectors, body]) => [selectors?.trim(), body] as const);
  const bodies = rules.filter(([name]) => name === selector).map(([, body]) => body ?? "");
  const values = bodies.flatMap((body) => Array.from(body.matchAll(/([\w-]+):([^;]+);/g))).filter(([, name]) => name === property);
  return values.at(-1)?.[2]?.trim();
}

type Rgb = readonly [number, number, number];

/** The colour in a theme. Knows what the panel uses: variables, `#rrggbb`, and `color-mix(in srgb, … n%, …)`. */
export function colour(value: string, theme: "dark" | "light"): Rgb {
  const hex = /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(value);
  if (hex !== null) {
    return [parseInt(hex[1] ?? "", 16), parseInt(hex[2] ?? "", 16), parseInt(hex[3] ?? "", 16)];
  }
  const [name = "", ...parts] = argumentsOf(value);
  if (name === "var") {
    const [variable = "", fallback] = parts;
    const colours: Record<string, string> = THEMES[theme].colours;
    const known = variable.startsWith("--vscode-") ? colours[variable.slice("--vscode-".length)] : declared(":root", variable);
    return colour(known ?? fallback ?? "", theme);
  }
  if (name === "color-mix" && parts[0] === "in srgb") {
    const [, first, share] = /^(.*) (\d+)%$/.exec(parts[1] ?? "") ?? [];
    const [a, b, part] = [colour(first ?? "", theme), colour(parts[2] ?? "", theme), Number(share) / 100];
    const mixed = (index: 0 | 1 | 2) => a[index] * part + b[index] * (1 - part);
    return [mixed(0), mixed(1), mixed(2)];
  }
  throw new Error(`no colour that is known here: ${value}`);
}

/** `name(a, b(c, d))` as `["name", "a", "b(c, d)"]`. */
function argumentsOf(value: string): string[] {
  const [, name, inner] = /^([\w-]+)\(([\s\S]*)\)$/.exec(value) ?? [];
  const parts: string[] = [name ?? ""];
  let depth = 0;
  let part = "";
  for (const character of inner ?? "") {
    depth += character === "(" ? 1 : character === ")" ? -1 : 0;
    if (character === "," && depth === 0) {
      parts.push(part.trim());
      part = "";
    } else {
      part += character;
    }
  }
  return [...parts, part.trim()];
}

/** The contrast ratio of WCAG 2: 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

function luminance(rgb: Rgb): number {
  const [red = 0, green = 0, blue = 0] = rgb.map((each) => {
    const share = each / 255;
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
