/** Stands in for an extension that runs tests: the one that it has fails, with words, with what was wanted, and with its place. */

const vscode = require("vscode");

exports.activate = (context) => {
  const tests = vscode.tests.createTestController("failingTest", "Tank gauge");
  const file = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, "tests", "test_tank.py");
  const place = new vscode.Range(4, 0, 4, 20);
  const item = tests.createTestItem("test_tank.py::test_dip", "test_dip", file);
  item.range = place;
  tests.items.add(item);
  const run = async () => {
    const running = tests.createTestRun(new vscode.TestRunRequest([item]));
    const message = vscode.TestMessage.diff("AssertionError: the dip is wrong", "42", "17");
    message.location = new vscode.Location(file, place);
    running.started(item);
    running.failed(item, message, 12);
    running.end();
    await vscode.commands.executeCommand("workbench.panel.testResults.view.focus");
  };
  context.subscriptions.push(tests, vscode.commands.registerCommand("failingTest.run", run));
};
