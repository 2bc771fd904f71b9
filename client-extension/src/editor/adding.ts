/**
 * *Add to Ullage* from wherever something is chosen: files and folders, the selection of an editor, changes of the source control, failures of
 * tests, the selection of a terminal. It stands in the prompt box then, and the user says what is wanted.
 */

import * as vscode from "vscode";
import type { ChatView } from "../chatView";
import { isAttachable, nameInUri } from "../files/fileFacts";
import { t } from "../l10n";
import type { AttachmentRef } from "../protocol";
import { changeOf, type ChangeInView } from "./git";
import { terminalSelection } from "./terminals";
import { failureOf, linesOf, textOf } from "./words";

/**
 * Adds what the place gives that the command was chosen from; without any, what the active editor shows.
 *
 * @throws Error with a message for the user.
 */
export async function addToChat(chat: ChatView, ...given: unknown[]): Promise<void> {
  const attachments = textsIn(given) ?? testIn(given) ?? (await changesIn(given)) ?? filesIn(given) ?? fromEditor();
  await chat.show({ kind: "prompt", prompt: { text: "", attachments } });
}

/** Adds what is selected in the active terminal. @throws Error with a message for the user. */
export async function addTerminalSelection(chat: ChatView): Promise<void> {
  await chat.show({ kind: "prompt", prompt: { text: "", attachments: [await terminalSelection()] } });
}

/** Changes of the source control, each as its diff where git knows one: of a file that was deleted there is nothing else. */
async function changesIn(given: readonly unknown[]): Promise<AttachmentRef[] | undefined> {
  const states = given
    .flatMap((each) => (each as { resourceStates?: unknown[] } | undefined)?.resourceStates ?? [each])
    .filter((each) => !(each instanceof vscode.Uri) && uriOf(each) !== undefined) as ChangeInView[];
  if (states.length === 0) {
    return undefined;
  }
  return Promise.all(
    states.map(async (state) => {
      const diff = await changeOf(state).catch(() => undefined); // another source control than git: the file then
      return diff ?? { kind: "file", uri: state.resourceUri.toString() };
    }),
  );
}

/**
 * The message of a test that failed, and the file that it is in. VS Code gives both from the message itself, in the results and where it stands in the
 * editor. The test may be gone by then.
 */
function textsIn([given]: readonly unknown[]): AttachmentRef[] | undefined {
  const { test, message } = (typeof given === "object" && given !== null ? given : {}) as {
    test?: vscode.TestItem;
    message?: vscode.TestMessage;
  };
  if (message?.message === undefined) {
    return undefined;
  }
  const at = message.location === undefined ? undefined : placeOf(message.location.uri, message.location.range.start.line);
  const frames = message.stackTrace?.map(({ label, uri, position }) => ({ label, at: uri && position && placeOf(uri, position.line) }));
  const said = typeof message.message === "string" ? message.message : message.message.value;
  const failure = { label: test?.label, said, expected: message.expectedOutput, actual: message.actualOutput, at, frames };
  const uri = test?.uri ?? message.location?.uri;
  const file: AttachmentRef[] = uri === undefined ? [] : [{ kind: "file", uri: uri.toString() }];
  return [failureOf(failure), ...file];
}

function placeOf(uri: vscode.Uri, line: number): string {
  return `${vscode.workspace.asRelativePath(uri)}:${line + 1}`;
}

/** A test of the list of tests or of their results: where it stands. VS Code gives no words of its failure there. */
function testIn([given]: readonly unknown[]): AttachmentRef[] | undefined {
  const { id, label, uri, range, children } = (typeof given === "object" && given !== null ? given : {}) as Partial<vscode.TestItem>;
  if (id === undefined || label === undefined || children === undefined) {
    return undefined;
  }
  const lines = range === undefined ? {} : { lines: { first: range.start.line + 1, last: range.end.line + 1 } };
  const file: AttachmentRef[] = uri === undefined ? [] : [{ kind: "file", uri: uri.toString(), ...lines }];
  return [textOf(t("test {label}", { label }), `${label} (${id})`), ...file]; // oxlint-disable-line ullage/untranslated -- the model reads it
}

/** Files and folders of the explorer (the one that was clicked, or all that are chosen), of a tab, or of the source control. */
function filesIn(given: readonly unknown[]): AttachmentRef[] | undefined {
  const [clicked, chosen] = given;
  const all = Array.isArray(chosen) && chosen.length > 0 ? chosen : clicked instanceof vscode.Uri ? [clicked] : given;
  const uris = all.map(uriOf).filter((uri) => uri !== undefined);
  const selected = selectionIn(uris);
  return uris.length === 0 ? undefined : (selected ?? uris.map((uri) => ({ kind: "file", uri: uri.toString() })));
}

function uriOf(given: unknown): vscode.Uri | undefined {
  const uri = given instanceof vscode.Uri ? given : (given as { resourceUri?: unknown } | undefined)?.resourceUri;
  return uri instanceof vscode.Uri && isAttachable(uri.toString()) ? uri : undefined;
}

/** The selected lines, where the only file is the one in the active editor. */
function selectionIn(uris: readonly vscode.Uri[]): AttachmentRef[] | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || uris.length !== 1 || editor.document.uri.toString() !== uris[0]?.toString()) {
    return undefined;
  }
  return editor.selection.isEmpty ? undefined : fromEditor();
}

function fromEditor(): AttachmentRef[] {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    throw new Error(t("No editor is active: open the file or the new document that is to be added"));
  }
  const uri = editor.document.uri.toString();
  if (!isAttachable(uri)) {
    throw new Error(t("{uri} is no file, so it cannot be added", { uri: nameInUri(uri) }));
  }
  const lines = linesOf(editor.selection.start, editor.selection.end);
  if (lines !== undefined && editor.document.isUntitled) {
    return [textOf(nameInUri(uri), editor.document.getText(editor.selection))];
  }
  return [{ kind: "file", uri, ...(lines === undefined ? {} : { lines }) }];
}
