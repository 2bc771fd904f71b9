/** What files of the project tell the agent and have run: hooks, which the user allows here, and rules, skills and commands, with what each takes. */

import { formatTokensExactly } from "../../src/format";
import { dateLanguage, plural, t } from "../../src/l10n";
import type { HookRun, HookRuns, Instructions, InstructionsFile, PassedHook, ShownHook } from "../../src/protocol";
import { visibleLine, visibleText } from "../../src/visible";
import type { Actions } from "../actions";
import { element, icon, setChildren, textButton, withCode } from "../dom";
import type { Sheet } from "../history/sheet";

const DECIDED: Readonly<Record<HookRuns, { icon: string; text: string }>> = {
  sandbox: { icon: "check", text: t("Runs in the sandbox") },
  outside: { icon: "check", text: t("Runs with all your rights") },
  never: { icon: "circle-slash", text: t("Never runs") },
};

const KINDS: readonly { kind: InstructionsFile["kind"]; title: string }[] = [
  { kind: "rules", title: t("Rules") },
  { kind: "skill", title: t("Skills") },
  { kind: "command", title: t("Commands") },
];

export class InstructionsSheet {
  private readonly body = element("div", { className: "rules" });
  private asked = 0;

  constructor(
    private readonly actions: Actions,
    private readonly sheet: Sheet,
  ) {}

  open(): void {
    this.sheet.open({ title: t("Rules and hooks"), body: this.body, closed: () => void (this.asked += 1) });
    void this.load();
  }

  private async load(): Promise<void> {
    this.asked += 1;
    const { asked } = this;
    try {
      const found = await this.actions.ask("ullage/session/instructions", {});
      if (asked === this.asked) {
        this.draw(found);
      }
    } catch (error) {
      if (asked === this.asked) {
        const said = error instanceof Error ? error.message : String(error);
        setChildren(this.body, element("p", { textContent: said, attributes: { role: "alert" } }));
      }
    }
  }

  private draw(found: Instructions): void {
    const files = KINDS.flatMap(({ kind, title }) => {
      const ofKind = found.files.filter((file) => file.kind === kind);
      return ofKind.length === 0 ? [] : [section(title, ofKind.map(drawFile))];
    });
    const isEmpty = found.hooks.length + found.passed.length === 0;
    setChildren(
      this.body,
      found.reason != null && element("p", { className: "rule-warning" }, icon("warning"), element("span", { textContent: found.reason })),
      section(
        t("Hooks"),
        [...found.hooks.map((hook) => this.drawHook(hook, found.noSandbox ?? undefined)), ...found.passed.map(drawPassed)],
        isEmpty
          ? t(
              "There are no hooks. A hook is a command that runs by itself, such as a formatter after each edit. Declare it in .claude/settings.json or .ullage/hooks.json.",
            )
          : t("Commands that are run by themselves. None runs before you allow it, and one that is edited asks anew."),
      ),
      ...files,
      files.length === 0 &&
        element("p", {
          className: "muted",
          textContent: t("There are no rules, skills or commands. Write what the agent should know about this project into AGENTS.md."),
        }),
    );
  }

  private drawHook(hook: ShownHook, noSandbox: string | undefined): HTMLElement {
    const decided = hook.runs == null ? undefined : DECIDED[hook.runs];
    const when = visibleLine(`${hook.event} ${hook.matcher}`.trim());
    const row = element(
      "li",
      { className: "rule hook" },
      element(
        "div",
        { className: "rule-head" },
        element("span", { className: "rule-name" }, element("code", { textContent: when })),
        element(
          "span",
          { className: decided === undefined ? "hook-decided undecided" : "hook-decided" },
          icon(decided?.icon ?? "question"),
          element("span", { textContent: decided?.text ?? t("Not allowed yet") }),
        ),
      ),
      element("pre", {
        className: "hook-command",
        textContent: visibleText(hook.command),
        attributes: { tabindex: "0", "aria-label": t("Command") },
      }),
      element("p", {
        className: "muted",
        textContent: t("From {path}. At most {seconds} seconds.", { path: visibleLine(hook.path), seconds: String(hook.seconds) }),
      }),
      hook.last != null && drawRun(hook.last),
      element("div", { className: "button-row" }, ...this.buttons(hook, noSandbox)),
    );
    if (noSandbox !== undefined && hook.runs == null) {
      const text = t("No sandbox confines it here: {reason}", { reason: noSandbox });
      row.append(element("p", { className: "rule-warning" }, icon("warning"), element("span", {}, ...withCode(text))));
    }
    return row;
  }

  private buttons(hook: ShownHook, noSandbox: string | undefined): HTMLElement[] {
    const choice = (runs: HookRuns | undefined, label: string, className = "secondary"): HTMLElement[] =>
      hook.runs === runs || (runs === undefined && hook.runs == null)
        ? []
        : [textButton({ label, className, onClick: () => void this.decide(hook, runs) })];
    return [
      ...(noSandbox === undefined ? choice("sandbox", t("Allow in the sandbox"), hook.runs == null ? "" : "secondary") : []),
      ...choice("outside", t("Allow with all rights")),
      ...choice("never", t("Never run")),
      ...choice(undefined, t("Ask again")),
    ];
  }

  private async decide(hook: ShownHook, runs: HookRuns | undefined): Promise<void> {
    await this.actions.send("ullage/session/decideHook", { hookId: hook.id, ...(runs === undefined ? {} : { runs }) });
    await this.load();
    this.body.querySelector<HTMLElement>(".hook button")?.focus();
  }
}

function section(title: string, rows: readonly HTMLElement[], about?: string): HTMLElement {
  return element(
    "section",
    {},
    element("h3", { textContent: title }),
    about !== undefined && element("p", { className: "muted", textContent: about }),
    rows.length > 0 && element("ul", { className: "rule-list" }, ...rows),
  );
}

function drawRun(last: HookRun): HTMLElement {
  const when = new Date(last.at * 1000).toLocaleTimeString(dateLanguage(), { timeStyle: "short" });
  const took = t("Last at {when}, in {seconds} seconds: {outcome}", {
    when,
    seconds: last.seconds.toFixed(1),
    outcome: visibleLine(last.why),
  });
  const told = plural(last.times, t("{count} run"), t("{count} runs"));
  const tokens = t("{tokens} tokens told to the agent", { tokens: formatTokensExactly(last.tokens) });
  return element(
    "p",
    { className: last.failed ? "rule-warning" : "muted" },
    last.failed && icon("warning"),
    element("span", { textContent: `${took} · ${told} · ${tokens}` }),
  );
}

function drawPassed({ event, command, path, why }: PassedHook): HTMLElement {
  return element(
    "li",
    { className: "rule" },
    element(
      "div",
      { className: "rule-head" },
      element("code", { className: "rule-name", textContent: visibleLine(`${event} ${command}`.trim() || path) }),
    ),
    element(
      "p",
      { className: "rule-warning" },
      icon("warning"),
      element("span", {}, ...withCode(t("Not run: {reason} ({path})", { reason: why, path: visibleLine(path) }))),
    ),
  );
}

function drawFile(file: InstructionsFile): HTMLElement {
  const name = file.name == null ? visibleLine(file.path) : `/${visibleLine(file.name)}`;
  const tokens = file.tokens > 0 ? t("{tokens} tokens in every request", { tokens: formatTokensExactly(file.tokens) }) : "";
  const where = file.name == null ? "" : visibleLine(file.path);
  const said = [file.why, tokens, where].filter((part) => part !== "").join(" · ");
  return element(
    "li",
    { className: "rule" },
    element("div", { className: "rule-head" }, element("span", { className: "rule-name", textContent: name })),
    element("p", { className: "muted", textContent: said }),
    file.importedBy != null &&
      element("p", { className: "muted", textContent: t("Imported by {path}.", { path: visibleLine(file.importedBy) }) }),
    file.problem != null && element("p", { className: "rule-warning" }, icon("warning"), element("span", { textContent: file.problem })),
  );
}
