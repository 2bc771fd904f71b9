/** The API key with the address that it was given for, as one text: so both change at once, in all windows. No VS Code in here. */

/** What an empty address stands for. */
export const ANTHROPIC = "https://api.anthropic.com";

export interface StoredKey {
  readonly key: string;
  /** Undefined for a key that an earlier version stored, without saying so: it is for whatever address is set. */
  readonly address: string | undefined;
}

/** What is stored of a key. @param address that it is for; empty: Anthropic's own. */
export function toStore(key: string, address: string): string {
  return JSON.stringify({ key, address: address.trim() || ANTHROPIC });
}

/** What was stored; undefined if nothing was. */
export function fromStore(stored: string | undefined): StoredKey | undefined {
  if (!stored) {
    return undefined;
  }
  try {
    const { key, address } = JSON.parse(stored) as Record<string, unknown>;
    return typeof key === "string" && typeof address === "string" ? { key, address } : { key: stored, address: undefined };
  } catch {
    return { key: stored, address: undefined };
  }
}
