/**
 * What terminals show, for a prompt: the last command with its output, and what is selected.
 *
 * VS Code tells of commands where its shell integration runs in the terminal, and only while they run: so their output is kept from the start on,
 * the end of it. Of what is selected it tells nothing; its own command copies that, and the clipboard is given back.
 */

import * as vscode from "vscode";
import { t } from "../l10n";
import type { AttachmentRef } from "../protocol";
import { commandTold, keptEnd, type ToldCommand } from "./terminalText";
import { textOf } from "./words";

/** Keeps the last command of each terminal. */
export class Terminals implements vscode.Disposable {
  private readonly last = new WeakMap<vscode.Terminal, ToldCommand>();
  private readonly executions = new WeakMap<vscode.TerminalShellExecution, ToldCommand>();
  private readonly subscriptions = [
    vscode.window.onDidStartTerminalShellExecution(({ terminal, execution }) => void this.record(terminal, execution)),
    vscode.window.onDidEndTerminalShellExecution(({ execution, exitCode }) => {
      const command = this.executions.get(execution);
      if (command !== undefined) {
        command.ended = true;
        command.exitCode = exitCode;
      }
    }),
  ];

  /** The last command of the terminal at hand. @throws Error with a message for the user. */
  lastCommand(): AttachmentRef {
    const terminal = vscode.window.activeTerminal;
    if (terminal === undefined) {
      throw new Error(t("No terminal is open"));
    }
    const command = this.last.get(terminal);
    if (command === undefined) {
      throw new Error(
        terminal.shellIntegration === undefined
          ? t(
              "VS Code does not know the commands of this terminal: its shell integration is not active there. Select text, and attach @{name}",
              { name: t("terminalSelection") },
            )
          : t("Nothing was run in this terminal since Ullage started. Select text, and attach @{name}", { name: t("terminalSelection") }),
      );
    }
    return textOf("terminal", commandTold(command));
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private async record(terminal: vscode.Terminal, execution: vscode.TerminalShellExecution): Promise<void> {
    const command: ToldCommand = { line: execution.commandLine.value, output: "", ended: false, exitCode: undefined };
    this.last.set(terminal, command);
    this.executions.set(execution, command);
    for await (const data of execution.read()) {
      command.output = keptEnd(command.output, data);
    }
  }
}

/** What is selected in the active terminal. @throws Error with a message for the user. */
export async function terminalSelection(): Promise<AttachmentRef> {
  if (vscode.window.activeTerminal === undefined) {
    throw new Error(t("No terminal is open"));
  }
  const before = await vscode.env.clipboard.readText();
  await vscode.env.clipboard.writeText("");
  let selected: string;
  try {
    await vscode.commands.executeCommand("workbench.action.terminal.copySelection"); // there is no other way to learn what is selected
    selected = await vscode.env.clipboard.readText();
  } finally {
    await vscode.env.clipboard.writeText(before);
  }
  if (selected.trim() === "") {
    throw new Error(t("Select something in the terminal first"));
  }
  return textOf("terminal", selected);
}
