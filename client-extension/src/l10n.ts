/**
 * Texts in the user's language. The English sentence is its own key, as in `vscode.l10n`, whose bundle is used here.
 *
 * No VS Code and no DOM: the panel has no `vscode` module, and words are tested without one. `editorLanguage.ts` brings the bundle to the extension
 * host, `webview/hostLanguage.ts` to the panel. Both are imported before anything else, so tables of texts may stand at the top of a module.
 */

export type Values = Readonly<Record<string, string | number>>;

let texts: Readonly<Record<string, string>> = {};
let language = "en";
let plurals = new Intl.PluralRules(language);

/** Takes a language and its texts. What it has no text for stays English. @param to a language tag, such as `zh-cn` */
export function speak(to: string, bundle: Readonly<Record<string, string>> = {}): void {
  texts = bundle;
  language = to;
  plurals = new Intl.PluralRules(to);
}

/** The language of the texts, for the page. */
export function currentLanguage(): string {
  return language;
}

/** For dates and times: the language of the texts; beside English ones, as the user's system writes them. */
export function dateLanguage(): string | undefined {
  return language === "en" ? undefined : language;
}

/** That message in the user's language, with what stands for `{name}` in it. @param message a literal, so that it can be collected */
export function t(message: string, values: Values = {}): string {
  return fill(texts[message] ?? message, values);
}

/**
 * One of two messages by a count: `plural(count, t("{count} file"), t("{count} files"))`. Which one is the language's business: Chinese has one form
 * for all counts, and both messages have the same text in it.
 */
export function plural(count: number, one: string, other: string, values: Values = {}): string {
  return fill(plurals.select(count) === "one" ? one : other, { count, ...values });
}

/** A `{name}` that no value is given for stays: `plural` fills it in later. */
function fill(message: string, values: Values): string {
  return message.replace(/\{(\w+)\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : whole));
}
