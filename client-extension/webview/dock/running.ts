/** What runs in the background: one line above the prompt box, which unfolds to the commands, each with its time, its last line and a stop. */

import { t } from "../../src/l10n";
import type { RunningCommand } from "../../src/protocol";
import { endInWords, lineOf, runningInWords, stillRunning, timeOf } from "../../src/session/runningText";
import { visibleLine } from "../../src/visible";
import type { Actions } from "../actions";
import { element, icon, iconButton, setChildren } from "../dom";

/** Milliseconds after which the times are drawn again. */
const TICK = 1000;

export class RunningView {
  private readonly mark = element("span");
  private readonly words = element("span", { className: "running-count" });
  private readonly last = element("span", { className: "running-last muted" });
  private readonly toggle = element(
    "button",
    { type: "button", className: "fold running-toggle", attributes: { "aria-expanded": "false" } },
    icon("chevron-right", "fold-mark"),
    this.mark,
    this.words,
    this.last,
  );
  private readonly list = element("ul", { className: "running-commands", attributes: { "aria-label": t("Commands in the background") } });
  readonly element = element(
    "section",
    { className: "running-dock", hidden: true, attributes: { "aria-label": t("Commands in the background") } },
    this.toggle,
    this.list,
  );
  private readonly rows = new Map<string, CommandRow>();
  private drawn: readonly RunningCommand[] | undefined;
  private isOpen = false;
  private ticking: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly actions: Actions) {
    this.list.hidden = true;
    this.toggle.addEventListener("click", () => this.unfold(!this.isOpen));
  }

  update(commands: readonly RunningCommand[] | undefined): void {
    if (commands === this.drawn) {
      return;
    }
    this.drawn = commands;
    const shown = commands ?? [];
    if (shown.length === 0 && this.element.contains(document.activeElement)) {
      document.querySelector<HTMLElement>(".composer textarea")?.focus();
    }
    this.element.hidden = shown.length === 0;
    if (shown.length === 0) {
      this.unfold(false);
    }
    this.drawHead(shown);
    this.drawRows(shown);
    this.tick();
  }

  /** Unfolds it, with the focus on that command; false if it is none of these. */
  show(id: string | undefined): boolean {
    const row = id === undefined ? this.rows.values().next().value : this.rows.get(id);
    if (row === undefined) {
      return false;
    }
    this.unfold(true);
    row.focus();
    return true;
  }

  private unfold(isOpen: boolean): void {
    this.isOpen = isOpen;
    this.toggle.setAttribute("aria-expanded", String(isOpen));
    this.list.hidden = !isOpen;
    this.last.hidden = isOpen;
    this.drawTimes();
    this.tick();
  }

  private drawHead(shown: readonly RunningCommand[]): void {
    const failed = shown.some((each) => each.failed === true);
    this.mark.className = `codicon codicon-${failed ? "error" : "terminal"} running-mark${failed ? " failed" : ""}`;
    this.mark.setAttribute("aria-hidden", "true");
    this.words.textContent = runningInWords(shown);
    const told = shown.findLast((each) => each.failed === true) ?? shown.at(-1);
    this.last.textContent = told === undefined ? "" : `${lineOf(told)}${told.lastLine == null ? "" : `: ${visibleLine(told.lastLine)}`}`;
  }

  private drawRows(shown: readonly RunningCommand[]): void {
    const ids = new Set(shown.map(({ id }) => id));
    for (const [id, row] of this.rows) {
      if (!ids.has(id)) {
        if (row.element.contains(document.activeElement)) {
          this.toggle.focus();
        }
        row.element.remove();
        this.rows.delete(id);
      }
    }
    for (const command of shown) {
      const row = this.rows.get(command.id) ?? new CommandRow(command, this.actions);
      this.rows.set(command.id, row);
      row.update(command);
      if (!row.element.isConnected || row.element.parentElement !== this.list) {
        this.list.append(row.element);
      }
    }
    this.drawTimes();
  }

  /** The times show only while it is unfolded. */
  private tick(): void {
    clearInterval(this.ticking);
    const runs = this.isOpen && stillRunning(this.drawn).length > 0;
    this.ticking = runs ? setInterval(() => this.drawTimes(), TICK) : undefined;
  }

  private drawTimes(): void {
    if (this.isOpen) {
      this.rows.forEach((row) => row.drawTime());
    }
  }
}

class CommandRow {
  private readonly mark = element("span");
  private readonly line = element("bdi", { className: "running-line" });
  private readonly time = element("span", { className: "running-time muted" });
  private readonly said = element("span", { className: "running-said muted" });
  private readonly ports = element("span", { className: "running-ports" });
  private readonly open = element("button", { type: "button", className: "running-open" });
  private readonly stop: HTMLButtonElement;
  readonly element: HTMLElement;
  private command: RunningCommand;
  private drawnPorts = "";

  constructor(
    command: RunningCommand,
    private readonly actions: Actions,
  ) {
    this.command = command;
    const { id } = command;
    const line = lineOf(command);
    this.open.append(this.mark, this.line);
    this.open.addEventListener("click", () => actions.runCommand("ullage.showCommandOutput", id));
    this.stop = iconButton({
      label: t("Stop {line}", { line }),
      icon: "debug-stop",
      title: t("Stop it, with everything that it started"),
      onClick: () => void actions.send("ullage/session/stopCommand", { commandId: id }),
    });
    const output = iconButton({
      label: t("Open the output of {line}", { line }),
      icon: "output",
      onClick: () => actions.runCommand("ullage.showCommandOutput", id),
    });
    const call = iconButton({
      label: t("Show the call that began {line}", { line }),
      icon: "go-to-file",
      onClick: () => actions.showItem(command.toolCallId),
    });
    const buttons = element("span", { className: "running-buttons" }, call, output, this.stop);
    this.element = element(
      "li",
      {},
      element("div", { className: "running-row" }, this.open, buttons),
      element("div", { className: "running-second" }, this.time, this.said, this.ports),
    );
  }

  focus(): void {
    this.open.focus();
  }

  update(command: RunningCommand): void {
    this.command = command;
    const line = lineOf(command);
    const ended = command.end != null;
    const mark = ended ? (command.failed === true ? "error" : "pass") : "circle-filled";
    this.mark.className = `codicon codicon-${mark} running-mark ${ended ? (command.failed === true ? "failed" : "") : "runs"}`;
    this.mark.setAttribute("aria-hidden", "true");
    this.line.textContent = line;
    this.open.title = t("{line}: open its output", { line });
    this.said.textContent = command.lastLine == null ? t("It has said nothing yet") : visibleLine(command.lastLine);
    this.said.title = this.said.textContent;
    if (ended && this.stop.matches(":focus")) {
      this.open.focus();
    }
    this.stop.hidden = ended;
    this.drawPorts();
    this.drawTime();
  }

  drawTime(): void {
    const time = timeOf(this.command, Date.now() / 1000);
    const ended = endInWords(this.command);
    this.time.textContent = ended === "" ? time : t("{ended} after {time}", { ended, time });
  }

  private drawPorts(): void {
    const ports = this.command.ports ?? [];
    const drawn = ports.join(" ");
    if (drawn === this.drawnPorts) {
      return;
    }
    this.drawnPorts = drawn;
    setChildren(
      this.ports,
      ...ports.map((port) =>
        element(
          "button",
          {
            type: "button",
            className: "link-button",
            title: t("Open it in the browser. As long as the command runs, every program of this machine can then connect to it"),
            on: { click: () => this.actions.runCommand("ullage.openCommandPort", `${this.command.id} ${port}`) },
          },
          icon("link-external"),
          `localhost:${port}`,
        ),
      ),
    );
  }
}
