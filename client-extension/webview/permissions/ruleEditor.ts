/** Writing a rule: its pattern, where it holds, and at every key what it would let run and which past calls it would have covered. */

import { plural, t } from "../../src/l10n";
import type { CheckedRule, NewRule, RuleAction, RuleScope } from "../../src/protocol";
import { visibleLine } from "../../src/visible";
import type { Actions } from "../actions";
import { element, icon, setChildren, textButton, withCode } from "../dom";

const SCOPES: readonly [RuleScope, string][] = [
  ["session", t("In this session")],
  ["workspace", t("In this workspace")],
  ["everywhere", t("Everywhere")],
];

const ACTION_NAMES: Record<RuleAction, string> = {
  command: t("Commands"),
  edit: t("Edits of files"),
  host: t("Connections"),
  read: t("Reading of files"),
  mcp: t("Tools of MCP servers"),
  agent: t("Sub-agents that act"),
  search: t("Searches of the web"),
};

/** A rule without the place where it holds, which is one for all that are saved together. */
type WrittenRule = Pick<NewRule, "action" | "pattern" | "refuses">;

export interface RuleEditorOptions {
  actions: Actions;
  /** What stands there first. */
  rules: readonly WrittenRule[];
  scope?: RuleScope;
  /** Whether the kind of the rule can be chosen, too, and whether it allows or refuses. */
  anyAction?: boolean;
  saveLabel: string;
  /** Saves them. @throws Error with the reason for the user where one cannot be a rule */
  save: (rules: NewRule[]) => Promise<void>;
  cancel: () => void;
  /** What is known of a pattern was drawn, so the editor has another height. */
  drawn?: () => void;
}

/** The editor for one or more rules that are saved together. */
export class RuleEditor {
  readonly element: HTMLElement;
  private readonly rows: PatternRow[];
  private readonly scope: HTMLSelectElement;
  private isSaving = false;
  private readonly failed = element("p", { className: "rule-problem", hidden: true, attributes: { role: "alert" } });

  constructor(private readonly options: RuleEditorOptions) {
    this.scope = element(
      "select",
      { className: "rule-scope", attributes: { "aria-label": t("Where the rule holds") }, on: { change: () => this.checkAll() } },
      ...SCOPES.map(([value, textContent]) =>
        element("option", { value, textContent, selected: value === (options.scope ?? "workspace") }),
      ),
    );
    this.rows = options.rules.map(
      (rule) =>
        new PatternRow(
          options.actions,
          rule,
          options.anyAction === true,
          () => this.chosenScope,
          () => options.drawn?.(),
        ),
    );
    const save = textButton({ label: options.saveLabel, className: "primary", onClick: () => void this.save() });
    const cancel = textButton({ label: t("Cancel"), className: "secondary", onClick: () => options.cancel() });
    this.element = element(
      "div",
      { className: "rule-editor", attributes: { role: "group", "aria-label": t("Rule") } },
      ...this.rows.map((row) => row.element),
      this.failed,
      element("div", { className: "button-row" }, this.scope, save, cancel),
    );
    this.element.addEventListener("keydown", (event) => {
      if (event.isComposing) {
        return;
      }
      if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        options.cancel();
      } else if (event.key === "Enter" && event.target instanceof HTMLInputElement) {
        event.preventDefault();
        void this.save();
      }
    });
    this.checkAll();
  }

  focus(): void {
    this.rows[0]?.focus();
  }

  private get chosenScope(): RuleScope {
    return SCOPES.find(([value]) => value === this.scope.value)?.[0] ?? "workspace";
  }

  private checkAll(): void {
    for (const row of this.rows) {
      row.check();
    }
  }

  /** What was typed a moment ago is checked first. */
  private async save(): Promise<void> {
    if (this.isSaving) {
      return;
    }
    this.isSaving = true;
    try {
      await Promise.all(this.rows.map((row) => row.checked()));
      await this.saveNow();
    } finally {
      this.isSaving = false;
    }
  }

  private async saveNow(): Promise<void> {
    const broken = this.rows.find((row) => row.isBroken);
    if (broken !== undefined) {
      broken.focus();
      return;
    }
    this.failed.hidden = true;
    try {
      await this.options.save(this.rows.map((row) => ({ ...row.rule, scope: this.chosenScope })));
    } catch (error) {
      this.failed.textContent = error instanceof Error ? error.message : String(error);
      this.failed.hidden = false;
      this.focus();
    }
  }
}

/** One pattern, and what is known of it. */
class PatternRow {
  readonly element: HTMLElement;
  private readonly input: HTMLInputElement;
  private readonly action: HTMLSelectElement;
  private readonly effect: HTMLSelectElement;
  private readonly said = element("div", { className: "rule-said", attributes: { role: "status" } });
  private readonly past = element("div", { className: "rule-past" });
  private asking: Promise<void> | undefined;
  private isStale = false;
  isBroken = false;

  constructor(
    private readonly actions: Actions,
    rule: WrittenRule,
    anyAction: boolean,
    private readonly scope: () => RuleScope,
    private readonly drawn: () => void,
  ) {
    const kinds = Object.entries(ACTION_NAMES) as [RuleAction, string][];
    this.action = element(
      "select",
      { className: "rule-scope", hidden: !anyAction, attributes: { "aria-label": t("What the rule is about") } },
      ...kinds.map(([value, textContent]) => element("option", { value, textContent, selected: value === rule.action })),
    );
    this.action.addEventListener("change", () => {
      if (this.action.value === "read" || this.action.value === "agent") {
        this.effect.value = "refuse"; // reading is free, and a sub-agent is allowed where it is asked about
        this.nameInput();
      }
      this.check();
    });
    this.effect = element(
      "select",
      { className: "rule-scope", hidden: !anyAction, attributes: { "aria-label": t("What the rule does") } },
      element("option", { value: "allow", textContent: t("Always allow"), selected: rule.refuses !== true }),
      element("option", { value: "refuse", textContent: t("Never allow"), selected: rule.refuses === true }),
    );
    this.effect.addEventListener("change", () => {
      this.nameInput();
      this.check();
    });
    this.input = element("input", {
      type: "text",
      className: "rule-pattern",
      value: rule.pattern,
      spellcheck: false,
      attributes: { autocomplete: "off", autocapitalize: "off" },
      on: { input: () => this.check() },
    });
    this.nameInput();
    const kind = element("div", { className: "rule-kind", hidden: !anyAction }, this.effect, this.action);
    this.element = element("div", { className: "rule-row" }, kind, this.input, this.said, this.past);
  }

  get rule(): WrittenRule {
    const action = (Object.keys(ACTION_NAMES) as RuleAction[]).find((kind) => kind === this.action.value) ?? "command";
    return { action, pattern: this.input.value, ...(this.refuses ? { refuses: true } : {}) };
  }

  private get refuses(): boolean {
    return this.effect.value === "refuse";
  }

  private nameInput(): void {
    this.input.setAttribute("aria-label", this.refuses ? t("Never allow") : t("Always allow"));
  }

  focus(): void {
    this.input.focus();
    this.input.setSelectionRange(this.input.value.length, this.input.value.length);
  }

  /** Asks what the pattern means. While an answer is on its way, what is typed waits for it. */
  check(): void {
    if (this.asking !== undefined) {
      this.isStale = true;
      return;
    }
    this.asking = this.ask();
  }

  /** Until it is known what stands there now. */
  async checked(): Promise<void> {
    await this.asking;
  }

  private async ask(): Promise<void> {
    do {
      this.isStale = false;
      try {
        this.show(await this.actions.ask("ullage/permission/check", { rule: { ...this.rule, scope: this.scope() } }));
        this.drawn();
      } catch (error) {
        setChildren(this.said, error instanceof Error ? error.message : String(error));
      }
    } while (this.isStale);
    this.asking = undefined;
  }

  private show({ problem, explanation, warning, matches, matched, of }: CheckedRule): void {
    this.isBroken = problem != null;
    this.input.setAttribute("aria-invalid", String(this.isBroken));
    setChildren(
      this.said,
      problem != null && element("p", { className: "rule-problem" }, icon("error"), element("span", {}, ...withCode(problem))),
      explanation != null && element("p", { className: "rule-explanation" }, ...withCode(explanation)),
      warning != null && element("p", { className: "rule-warning" }, icon("warning"), element("span", {}, ...withCode(warning))),
    );
    if (this.isBroken) {
      setChildren(this.past);
      return;
    }
    const rows = matches.map(({ text, times, allowed, refused }) => {
      const isRefused = refused === true;
      const but = isRefused ? !this.refuses && t("refused by another rule") : !allowed && t("still asked: not all of it is covered");
      return element(
        "li",
        { className: `rule-match${isRefused ? " refused" : allowed ? "" : " partly"}` },
        icon(isRefused ? "circle-slash" : allowed ? "check" : "question"),
        element("code", { textContent: visibleLine(text) }),
        element("span", { className: "muted", textContent: times > 1 ? `${times}×` : "" }),
        but !== false && element("span", { className: "muted", textContent: but }),
      );
    });
    setChildren(
      this.past,
      element("p", { className: "muted", textContent: pastInWords(matched, of) }),
      rows.length > 0 &&
        element(
          "ul",
          {
            className: "rule-matches",
            tabIndex: 0,
            attributes: { "aria-label": this.refuses ? t("What it would refuse") : t("What it would cover") },
          },
          ...rows,
        ),
    );
  }
}

/** How much of what the agent asked for before a rule is about. */
export function pastInWords(matched: number, of: number): string {
  if (of === 0) {
    return t("The agent has made no call of this kind here so far.");
  }
  return plural(
    of,
    t("It fits {matched} of {count} call of this kind that the agent has made here so far.", { matched }),
    t("It fits {matched} of the {count} different calls of this kind that the agent has made here so far.", { matched }),
  );
}
