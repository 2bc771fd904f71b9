import assert from "node:assert/strict";
import { test } from "node:test";
import { readFixtures } from "./repository";
import {
  matchSlashCommands,
  parseSlashCommand,
  SLASH_COMMANDS,
  typedAfterSlash,
  type SlashCommand,
} from "../../client-extension/webview/dock/slashCommands";

function check(text: string, expected: SlashCommand | undefined): void {
  test(`${JSON.stringify(text)} is ${expected?.name ?? "a prompt"}`, () => assert.deepEqual(parseSlashCommand(text), expected));
}

check("/compact", { name: "compact", focus: "" });
check("  /compact the failing test  ", { name: "compact", focus: "the failing test" });
check("/compact first line\nsecond line", { name: "compact", focus: "first line\nsecond line" });
check("/preview", { name: "preview", focus: "" });
check("/preview the failing test", { name: "preview", focus: "the failing test" });
check("/timeline", { name: "timeline" });
check("/search", { name: "search", words: "" });
check("/search dip_mm", { name: "search", words: "dip_mm" });
check("/timeline of the bug in tank.py", undefined);
check("/undo", { name: "undo" });
check("/redo", { name: "redo" });
check("/new", { name: "new" });
check("/clear", { name: "new" });
check("/model", { name: "model", model: "" });
check("/model claude-haiku-5-5", { name: "model", model: "claude-haiku-5-5" });
check("/context", { name: "context" });
check("/mcp", { name: "mcp", server: "" });
check("/mcp restart pumps", { name: "mcp", server: "pumps" });
check("/mcp online", { name: "mcp", server: "online" });
check("/hooks", { name: "hooks", words: "" });
check("/hooks allow 2", { name: "hooks", words: "allow 2" });
check("/rewind", { name: "rewind", to: "" });
check("/rewind 2 files", { name: "rewind", to: "2 files" });
check("/help", { name: "help" });
check("/effort", { name: "effort", effort: "" });
check("/effort high", { name: "effort", effort: "high" });
check("/undo the last change in tank.py", undefined);
check("/etc/hosts is wrong", undefined);
check("/unknown", undefined);
check("/compacted", undefined);
check("please /compact", undefined);
check("/", undefined);
check("", undefined);

function checkMenu(text: string, expected: string[]): void {
  test(`the menu for ${JSON.stringify(text)}`, () => {
    assert.deepEqual(
      matchSlashCommands(text).map(({ name }) => name),
      expected,
    );
  });
}

checkMenu(
  "/",
  SLASH_COMMANDS.map(({ name }) => name),
);
checkMenu("/co", ["compact", "context"]);
checkMenu("/cl", ["new"]);
checkMenu("/x", []);
checkMenu("/compact ", []);
checkMenu("co", []);

function checkTyped(text: string, expected: string | undefined): void {
  test(`what is typed of a name in ${JSON.stringify(text)}`, () => assert.equal(typedAfterSlash(text), expected));
}

checkTyped("/", "");
checkTyped("/docs:re", "docs:re");
checkTyped("/etc/hosts", undefined);
checkTyped("/docs:review 12", undefined);
checkTyped("no /docs", undefined);

test("the panel has the commands that the server lists", () => {
  type Listed = { result: { commands: { name: string; description: string; input?: { hint: string }; source?: string }[] } };
  const found = readFixtures().filter(({ content }) => content.method === "ullage/command/list");
  const commands = found.flatMap(({ content }) => (content.complete as Listed).result.commands);
  const own = commands.filter(({ source }) => source === undefined);
  const listed = own.map(({ name, description, input }) => [name, description, input?.hint]);
  assert.deepEqual(
    SLASH_COMMANDS.map(({ name, summary, argument }) => [name, summary, argument]),
    listed,
  );
});
