/**
 * Notifications and labels of VS Code with the words of others in them: names of files, messages of servers, titles.
 *
 * VS Code makes links of `[text](command:…)` in a notification and in an input box, and icons of `$(name)` in labels, so whoever names a file could
 * put a button there that runs a command, and so could a server that refuses a key. All of both go through here; a test looks for others.
 */

import * as vscode from "vscode";
import { notificationText } from "./visible";

/** Says it; gives the button that was clicked. */
export async function tell(message: string, ...buttons: string[]): Promise<string | undefined> {
  return vscode.window.showInformationMessage(notificationText(message), ...buttons);
}

/** The same as a warning. */
export async function warn(message: string, ...buttons: string[]): Promise<string | undefined> {
  return vscode.window.showWarningMessage(notificationText(message), ...buttons);
}

/** The same as an error. */
export async function tellError(message: string, ...buttons: string[]): Promise<string | undefined> {
  return vscode.window.showErrorMessage(notificationText(message), ...buttons);
}

/** Asks in a dialog that has to be answered; `detail` stands below in small. */
export async function confirm(message: string, detail: string, button: string): Promise<boolean> {
  const options = { modal: true, detail: notificationText(detail) };
  return (await vscode.window.showWarningMessage(notificationText(message), options, button)) === button;
}

/** The same with several buttons; gives the one that was clicked. */
export async function choose(message: string, detail: string, ...buttons: string[]): Promise<string | undefined> {
  const options = { modal: true, detail: notificationText(detail) };
  return vscode.window.showInformationMessage(notificationText(message), options, ...buttons);
}

/** Asks for a line of text. What is said above it and of what was typed may quote others. */
export async function askFor(options: vscode.InputBoxOptions): Promise<string | undefined> {
  const problemOf = async (typed: string) => {
    const problem = await options.validateInput?.(typed);
    return typeof problem === "string" ? notificationText(problem) : problem;
  };
  return vscode.window.showInputBox({ ...options, prompt: notificationText(options.prompt ?? ""), validateInput: problemOf });
}
