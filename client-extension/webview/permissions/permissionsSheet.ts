/** What the agent may do without a question, and what it may never do: the way of asking, and the rules, which can be written, changed and taken back. */

import { dateLanguage, plural, t } from "../../src/l10n";
import type { Allowed, AskFor, Asking, NewRule, RuleAction, RuleScope } from "../../src/protocol";
import type { Actions } from "../actions";
import { element, icon, iconButton, setChildren, textButton, withCode } from "../dom";
import type { Sheet } from "../history/sheet";
import { RuleEditor } from "./ruleEditor";

const WAYS: readonly { value: AskFor; name: string; means: string }[] = [
  {
    value: "everything",
    name: t("Ask about everything"),
    means: t("Every edit, every command and every connection, unless a rule below allows it."),
  },
  {
    value: "notHarmless",
    name: t("Ask about what is not harmless"),
    means: t("The same, but commands that are known to only read within the workspace folder run without a question."),
  },
  {
    value: "outsideSandbox",
    name: t("Ask about what leaves the workspace or the sandbox"),
    means: t(
      "Commands run in the sandbox, and files of the workspace are changed, without a question. Connections are asked about, and so is what may change files that run programs or steer tools.",
    ),
  },
];

const SCOPE_TITLES: readonly [RuleScope, string][] = [
  ["session", t("In this session")],
  ["workspace", t("In this workspace")],
  ["everywhere", t("Everywhere")],
];

/** How often the server is asked whether it knows of a choice, and milliseconds in between. A setting takes some to arrive there. */
const LOOKS = 20;
const BETWEEN = 150;

export class PermissionsSheet {
  private readonly ways = element("fieldset", { className: "ways" });
  private readonly rules = element("div", { className: "rules" });
  private readonly place = element("div");
  private readonly add: HTMLButtonElement;
  private readonly revokeAll: HTMLButtonElement;
  private readonly body: HTMLElement;
  private readonly foot: HTMLElement;
  private asked = 0;
  private isSure = false;
  private count = 0;

  constructor(
    private readonly actions: Actions,
    private readonly sheet: Sheet,
  ) {
    this.add = textButton({ label: t("Add a rule…"), icon: "add", className: "secondary", onClick: () => this.write() });
    this.revokeAll = textButton({ label: "", className: "secondary", onClick: () => void this.revokeEverything() });
    const intro = element("p", { className: "muted", textContent: t("Ask and Plan mode change nothing, whatever is allowed here.") });
    this.body = element("div", { className: "permissions" }, this.ways, intro, this.rules, this.place);
    this.foot = element("div", { className: "sheet-foot button-row" }, this.add, this.revokeAll);
  }

  open(): void {
    this.isSure = false;
    setChildren(this.place);
    this.sheet.open({ title: t("Permissions"), body: this.body, foot: this.foot, closed: () => void (this.asked += 1) });
    void this.load();
  }

  private async load(): Promise<void> {
    this.asked += 1;
    const { asked } = this;
    try {
      const { allowed, asking } = await this.actions.ask("ullage/permission/list", {});
      if (asked === this.asked) {
        this.drawWays(asking);
        this.drawRules(allowed);
      }
    } catch (error) {
      if (asked === this.asked) {
        setChildren(
          this.rules,
          element("p", { textContent: error instanceof Error ? error.message : String(error), attributes: { role: "alert" } }),
        );
      }
    }
  }

  /** With `pending`, a choice that the server does not know yet. */
  private drawWays(asking: Asking, pending?: AskFor): void {
    const wanted = pending ?? asking.wanted;
    this.ways.setAttribute("aria-busy", String(pending !== undefined));
    setChildren(
      this.ways,
      element("legend", { textContent: t("What Ullage asks about") }),
      ...WAYS.map(({ value, name, means }) => {
        const isOut = value === "outsideSandbox" && asking.noSandbox != null;
        const input = element("input", {
          type: "radio",
          name: "ask-for",
          value,
          checked: wanted === value,
          disabled: isOut && wanted !== value,
        });
        input.addEventListener("change", () => this.choose(value, asking));
        return element(
          "label",
          { className: isOut ? "way out" : "way" },
          input,
          element("span", { className: "way-name", textContent: name }),
          element("span", { className: "muted", textContent: means }),
          pending === value && element("span", { className: "muted", textContent: t("Not in force yet…"), attributes: { role: "status" } }),
          isOut &&
            element(
              "span",
              { className: "rule-warning" },
              icon("warning"),
              element(
                "span",
                {},
                ...withCode(
                  t("It needs a sandbox that works, and {reason} Until then it is as the one above.", {
                    reason: sentence(asking.noSandbox ?? ""),
                  }),
                ),
              ),
            ),
        );
      }),
    );
  }

  private choose(value: AskFor, asking: Asking): void {
    this.actions.runCommand("ullage.askFor", value);
    this.drawWays(asking, value);
    this.focusWay(value);
    this.asked += 1;
    void this.confirm(value, this.asked);
  }

  private focusWay(value: AskFor): void {
    this.ways.querySelector<HTMLInputElement>(`input[value="${value}"]`)?.focus();
  }

  /** Shows the choice as made once the server says so. If it never does, what the server goes by is shown again. */
  private async confirm(value: AskFor, asked: number): Promise<void> {
    for (let look = 1; look <= LOOKS; look += 1) {
      const answer = await this.actions.ask("ullage/permission/list", {}).catch(() => undefined);
      if (asked !== this.asked) {
        return; // something else was chosen, or the page was closed
      }
      if (answer !== undefined && (answer.asking.wanted === value || look === LOOKS)) {
        const isThere = this.ways.contains(document.activeElement);
        this.drawWays(answer.asking);
        if (isThere) {
          this.focusWay(answer.asking.wanted);
        }
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, BETWEEN));
    }
  }

  private drawRules(allowed: readonly Allowed[]): void {
    this.count = allowed.length;
    this.isSure = false;
    this.drawRevokeAll();
    const groups = SCOPE_TITLES.flatMap(([scope, title]) => {
      const inScope = allowed.filter((rule) => rule.scope === scope);
      const rules = [...inScope.filter(({ refuses }) => refuses === true), ...inScope.filter(({ refuses }) => refuses !== true)];
      return rules.length === 0
        ? []
        : [
            element(
              "section",
              {},
              element("h3", { textContent: title }),
              element("ul", { className: "rule-list" }, ...rules.map((rule) => this.draw(rule))),
            ),
          ];
    });
    setChildren(
      this.rules,
      ...groups,
      groups.length === 0 && element("p", { textContent: t("There are no rules. What is asked about is said above.") }),
    );
  }

  private draw(rule: Allowed): HTMLElement {
    const refuses = rule.refuses === true;
    const row = element("li", { className: refuses ? "rule refuses" : "rule" });
    const name = refuses ? [icon("circle-slash"), ...withCode(t("Never {rule}", { rule: rule.name }))] : withCode(rule.name);
    const change = iconButton({ label: t("Change this rule"), icon: "edit", onClick: () => this.write(rule, row) });
    const revoke = iconButton({ label: t("Revoke this rule"), icon: "trash", onClick: () => void this.revoke(rule) });
    row.append(
      element("div", { className: "rule-head" }, element("span", { className: "rule-name" }, ...name), change, revoke),
      element("p", { className: "muted" }, ...withCode(rule.explanation)),
      element("p", { className: "muted", textContent: useInWords(rule) }),
    );
    if (rule.warning != null) {
      row.append(element("p", { className: "rule-warning" }, icon("warning"), element("span", {}, ...withCode(rule.warning))));
    }
    return row;
  }

  /** The editor, in the place of a rule or below them all. */
  private write(rule?: Allowed, row?: HTMLElement): void {
    const was = rule === undefined ? undefined : newRule(rule);
    const editor = new RuleEditor({
      actions: this.actions,
      rules: [was ?? { action: "command", pattern: "" }],
      scope: was?.scope,
      anyAction: true,
      drawn: () => editor.element.scrollIntoView?.({ block: "nearest" }),
      saveLabel: t("Save"),
      save: async ([made]) => {
        if (made !== undefined) {
          await this.actions.ask("ullage/permission/allow", { rule: made, ...(was === undefined ? {} : { replaces: was }) });
          setChildren(this.place);
          await this.load();
          this.add.focus();
        }
      },
      cancel: () => {
        setChildren(this.place);
        void this.load().then(() => this.add.focus());
      },
    });
    setChildren(row ?? this.place, editor.element);
    editor.focus();
  }

  private async revoke({ action, pattern, scope }: Allowed): Promise<void> {
    if (await this.actions.send("ullage/permission/forget", { action, pattern, scope })) {
      await this.load();
      (this.rules.querySelector<HTMLButtonElement>(".rule button") ?? this.add).focus();
    }
  }

  private drawRevokeAll(): void {
    this.revokeAll.hidden = this.count === 0;
    const label = this.isSure ? plural(this.count, t("Really revoke {count} rule?"), t("Really revoke {count} rules?")) : t("Revoke all");
    this.revokeAll.lastElementChild?.replaceChildren(label);
  }

  /** Asks once more, in place. */
  private async revokeEverything(): Promise<void> {
    if (!this.isSure) {
      this.isSure = true;
      this.drawRevokeAll();
      return;
    }
    if (await this.actions.send("ullage/permission/forget", {})) {
      await this.load();
      this.add.focus();
    }
  }
}

const ACTIONS: readonly RuleAction[] = ["command", "edit", "host", "read", "mcp", "agent", "search"];

function newRule({ action, pattern, scope, refuses }: Allowed): NewRule {
  const known = ACTIONS.find((each) => each === action) ?? "command";
  return { action: known, pattern, scope, ...(refuses === true ? { refuses } : {}) };
}

function sentence(text: string): string {
  return text.endsWith(".") ? text : `${text}.`;
}

function day(at: number): string {
  return new Date(at * 1000).toLocaleString(dateLanguage(), { dateStyle: "medium", timeStyle: "short" });
}

/** Since when it is there, and how often it was used. */
export function useInWords({ since, used, lastUsed, refuses }: Allowed): string {
  const made = since == null ? t("Made by an earlier version.") : t("Since {when}.", { when: day(since) });
  if (used === 0) {
    return `${made} ${refuses === true ? t("It has refused nothing yet.") : t("Not used yet.")}`;
  }
  const often =
    refuses === true
      ? plural(used, t("Refused {count} time."), t("Refused {count} times."))
      : plural(used, t("Used {count} time."), t("Used {count} times."));
  return lastUsed == null ? `${made} ${often}` : `${made} ${often} ${t("Last: {when}.", { when: day(lastUsed) })}`;
}
