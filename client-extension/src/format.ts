/** Numbers as people read them. No VS Code and no DOM: the gauge, the notifications and the panel share it. */

import { t } from "./l10n";

/** Tokens in at most four characters: `850`, `1.2k`, `97k`, `1.4M`. */
export function formatTokens(tokens: number): string {
  const size = Math.abs(tokens);
  if (size < 1_000) {
    return String(Math.round(tokens));
  }
  if (size < 9_950) {
    return `${trimmed(tokens / 1_000)}k`;
  }
  if (size < 999_500) {
    return `${Math.round(tokens / 1_000)}k`;
  }
  return `${trimmed(tokens / 1_000_000)}M`;
}

/** Tokens in full with thousands separators: `142,381`. */
export function formatTokensExactly(tokens: number): string {
  return Math.round(tokens).toLocaleString("en-US");
}

/** `142k → 38k`; in full where both would read the same: `24,315 → 24,130`. */
export function formatChange(before: number, after: number): string {
  const [short, shorter] = [formatTokens(before), formatTokens(after)];
  return short === shorter && before !== after ? `${formatTokensExactly(before)} → ${formatTokensExactly(after)}` : `${short} → ${shorter}`;
}

/** Dollars: `$0.00`, `$0.0042`, `$1.27`. Small amounts keep two digits that mean something. */
export function formatDollars(dollars: number): string {
  if (dollars > 0 && dollars < 0.01) {
    return dollars < 0.0001 ? "<$0.0001" : `$${dollars.toPrecision(2)}`;
  }
  return `$${dollars.toFixed(2)}`;
}

/** A share from 0 to 1 as a whole percentage, rounded down: 100 % is said only when it is reached. */
export function formatShare(share: number): string {
  return `${Math.floor(share * 100 + 1e-9)}%`;
}

/** A part of a whole as a percentage, rounded; what is there is never 0 %. */
export function formatPart(part: number, whole: number): string {
  const percent = whole > 0 ? Math.round((100 * part) / whole) : 0;
  return percent === 0 && part > 0 ? "<1%" : `${percent}%`;
}

function trimmed(value: number): string {
  return value.toFixed(1).replace(/\.0$/, "");
}

/** A key as it is written on this keyboard: the manifest binds Cmd on macOS where it is Ctrl elsewhere. */
export function keyInWords(key: string, isMac: boolean): string {
  return isMac ? key.replaceAll("Ctrl+", "Cmd+") : key;
}

/** `4 s`, `2 min 5 s`; empty below a second, and where it is not known. */
export function durationInWords(seconds: number | null | undefined): string {
  const whole = Math.round(seconds ?? 0);
  if (whole < 1) {
    return "";
  }
  const [minutes, rest] = [Math.floor(whole / 60), whole % 60];
  return minutes === 0
    ? t("{rest} s", { rest })
    : rest === 0
      ? t("{minutes} min", { minutes })
      : t("{minutes} min {rest} s", { minutes, rest });
}
