/** Names, commands and messages of others cannot look like something else, nor make buttons of their own. */

import "./dom";
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ToolCallItem } from "../../client-extension/src/protocol";
import { labelText, notificationText, visibleLine, visibleText } from "../../client-extension/src/visible";
import { makeItemView } from "../../client-extension/webview/items";
import { recordingActions } from "./recordingActions";
import { ROOT } from "./repository";
import { toolCall } from "./samples";

interface Case {
  name: string;
  text: string;
  shown: string;
}

const CASES = JSON.parse(readFileSync(join(ROOT, "tests", "protocol", "visible.json"), "utf8")) as Case[];
/** Such as VS Code splits off for links in notifications (`parseLinkedText`). */
const LINK = /\[[^\]]+\]\((?:https?:\/\/|command:|file:)[^)\s]+(?: ["'].+?["'])?\)/i;

test("what is not seen stands as an escape, as the server has it", () => {
  for (const { name, text, shown } of CASES) {
    assert.equal(visibleLine(text), shown, name);
  }
});

test("where lines are shown as such they and tabs stay", () => {
  assert.equal(visibleText("a\r\nb\tc\rd\u{202e}"), "a\nb\tc\\rd\\u202e");
});

const LINKS = [
  "[Fix](command:workbench.action.terminal.new)",
  '[Fix](command:x "title")',
  "[a](https://example.org)",
  "[a](file:///etc/passwd)",
  "src/[Fix](command:x).py",
  "[[Fix](command:x)](command:y)",
  "[Fix]\u{200b}(command:x)",
  "[Fix](\u{200b}command:x)",
  "[a\nb](command:x)",
];

test("no name makes a link in a notification", () => {
  for (const text of LINKS) {
    assert.doesNotMatch(notificationText(`File not found: ${text}`), LINK, text);
  }
});

test("no name makes an icon in a label", () => {
  for (const [text, shown] of [
    ["$(check) passed", "\\$(check) passed"],
    ["a$(sync~spin)b", "a\\$(sync~spin)b"],
    ["$(X)", "\\$(X)"],
    ["costs $(5)", "costs $(5)"],
    ["a\u{202e}$(x)", "a\\u202e\\$(x)"],
  ] as const) {
    assert.equal(labelText(text), shown);
  }
});

/** Files of the extension's host side, in all folders, that have something of the kind. */
function filesWith(pattern: RegExp): string[] {
  const folder = join(ROOT, "client-extension", "src");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .filter((name) => pattern.test(readFileSync(join(folder, name), "utf8")));
}

test("all notifications go through the one room that makes their words plain", () => {
  assert.deepEqual(filesWith(/\.show(?:Information|Warning|Error)Message/), ["notify.ts"]);
});

test("all questions for a line of text go through the same room", () => {
  assert.deepEqual(filesWith(/\.showInputBox|createInputBox/), ["notify.ts"]);
});

test("no tooltip is trusted with more than the commands that it names", () => {
  assert.deepEqual(filesWith(/isTrusted\s*=\s*true|supportHtml/), []);
});

const ASKED: Partial<ToolCallItem> = {
  status: "awaiting_permission",
  permission: [{ optionId: "allow_once", name: "Allow once", kind: "allow_once" }],
  permissionId: "q1",
};

function drawn(item: ToolCallItem): HTMLElement {
  return makeItemView(item, recordingActions().actions).element;
}

function shownInput(command: string): string | undefined {
  const asked = toolCall("t1", { ...ASKED, toolKind: "execute", title: "$ x", input: JSON.stringify({ command }) });
  const shown = drawn(asked).querySelector<HTMLElement>(".tool-input");
  return shown?.hidden === false ? (shown.textContent ?? undefined) : undefined;
}

test("a command that is asked for is shown whole, however long it is", () => {
  for (const command of ["ls", "x".repeat(5_000), `ls${" ".repeat(3_000)}; rm -r x`, `${"true\n".repeat(500)}rm -r x`]) {
    assert.equal(shownInput(command), `$ ${command}`);
  }
});

test("a command that is asked for is shown though its title says the same", () => {
  const asked = toolCall("t1", { ...ASKED, toolKind: "execute", title: "$ ls", input: '{"command":"ls"}' });
  assert.equal(drawn(asked).querySelector<HTMLElement>(".tool-input")?.hidden, false);
});

test("a card shows no character of a command, a diff or a name that is not seen", () => {
  for (const { name, text } of CASES) {
    assert.equal(shownInput(`a${text}`), `$ ${visibleText(`a${text}`)}`, name);
    const diff = { path: `a${text}.py`, oldText: "", newText: `x = "${text.replaceAll(/[\r\n]/g, "")}"` };
    const card = drawn(toolCall("t1", { ...ASKED, toolKind: "edit", title: `Edit ${text}`, diff }));
    assert.equal(visibleText(card.textContent ?? ""), card.textContent, name);
  }
});

test("an answer names the question that was drawn", () => {
  const { actions, done } = recordingActions();
  const first = toolCall("t1", { ...ASKED });
  const view = makeItemView(first, actions);
  const old = view.element.querySelector<HTMLButtonElement>(".button-row button");
  view.update({ ...first, permissionId: "q2" });
  view.element.querySelector<HTMLButtonElement>(".button-row button")?.click();
  old?.click();
  assert.deepEqual(
    done.map((line) => /"permissionId":"(\w+)"/.exec(line)?.[1]),
    ["q2", "q1"],
  );
});
