/** Stands in for other people's extensions: for one whose test fails, for a language server that knows where symbols
 * are, and for one that brings language models (`models.cjs`). */

const vscode = require("vscode");
const { registerModels } = require("./models.cjs");

const file = (...names) => vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, ...names);

exports.activate = (context) => {
  const symbols = vscode.languages.registerWorkspaceSymbolProvider({ provideWorkspaceSymbols: symbolsFor });
  const tests = vscode.tests.createTestController("otherExtension", "Tank gauge");
  const command = vscode.commands.registerCommand("otherExtension.runTest", () => runTest(tests));
  const says = vscode.window.createStatusBarItem("otherExtension.session", vscode.StatusBarAlignment.Left);
  const answer = vscode.commands.registerCommand("otherExtension.answer", () => sayThatItKnows(says));
  const again = vscode.commands.registerCommand("otherExtension.startAgain", () => startAgain(says));
  const anew = vscode.commands.registerCommand("otherExtension.startAgainAnew", () => startAgain(says, "ullage.restartServer"));
  const taken = vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("otherExtension") && sayTaken(says));
  context.subscriptions.push(symbols, tests, command, answer, says, again, anew, taken, registerModels());
};

let begins = false;

/**
 * What each scenario that goes on in a window begins with: no editor, no list, a new session, no notification. Says in the status bar at once that
 * it was told, and in the end which session it is.
 */
async function startAgain(says, first) {
  if (begins) return;
  begins = true;
  says.text = "Begins again";
  says.show();
  try {
    if (first !== undefined) await vscode.commands.executeCommand(first);
    await vscode.commands.executeCommand("workbench.action.closeQuickOpen");
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    const session = await vscode.commands.executeCommand("ullage.newSession");
    await vscode.commands.executeCommand("notifications.clearAll");
    says.text = `Began again: ${String(session)}`;
  } finally {
    begins = false;
  }
}

let known = 0;

/** Says in the status bar how often it was asked. No notification is there then, and none is about to be taken away. */
async function sayThatItKnows(says) {
  await vscode.commands.executeCommand("notifications.clearAll");
  known += 1;
  says.text = `Extensions know: ${String(known)}`;
  says.show();
}

/**
 * Says in the status bar which change of the settings extensions have. A window that is open reads the machine's file anew, in which all of them
 * stand, and not the user's.
 */
function sayTaken(says) {
  const change = vscode.workspace.getConfiguration("otherExtension").get("change");
  if (change === 0) return;
  says.text = `Settings taken: ${String(change)}`;
  says.show();
}

/** Every class and function of one file whose name contains the query, from its first line to the line before the next. */
async function symbolsFor(query) {
  const document = await vscode.workspace.openTextDocument(file("tankgauge", "tank.py"));
  const lines = document.getText().split("\n");
  const named = lines.flatMap((line, at) => {
    const [, kind, name] = /^(class|def) (\w+)/.exec(line) ?? [];
    return name === undefined ? [] : [{ kind, name, at }];
  });
  return named
    .map(({ kind, name, at }, index) => {
      const end = (named[index + 1]?.at ?? lines.length) - 1;
      const place = new vscode.Location(document.uri, new vscode.Range(at, 0, end, lines[end].length));
      return new vscode.SymbolInformation(name, kind === "class" ? vscode.SymbolKind.Class : vscode.SymbolKind.Function, "", place);
    })
    .filter(({ name }) => name.toLowerCase().includes(query.toLowerCase()));
}

/** It fails with words, with what was wanted, and with its place. */
async function runTest(tests) {
  const place = new vscode.Location(file("tests", "test_tank.py"), new vscode.Range(4, 0, 4, 20));
  const item = tests.createTestItem("test_tank.py::test_dip", "test_dip", place.uri);
  item.range = place.range;
  tests.items.replace([item]);
  const message = vscode.TestMessage.diff("AssertionError: the dip is wrong", "42", "17");
  message.location = place;
  const running = tests.createTestRun(new vscode.TestRunRequest([item]));
  running.started(item);
  running.failed(item, message, 12);
  running.end();
  await vscode.commands.executeCommand("workbench.panel.testResults.view.focus");
}
