/** docs/settings.md and docs/commands.md, in both languages, say what the manifest says. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { SLASH_COMMANDS } from "../../client-extension/webview/dock/slashCommands";
import { referencePages } from "../../scripts/lib/reference.mjs";
import { ROOT } from "./repository";

const read = (file: string): unknown => JSON.parse(readFileSync(join(ROOT, "client-extension", file), "utf8"));
const manifest = read("package.json") as Parameters<typeof referencePages>[0]["manifest"];
const english = read("package.nls.json") as Record<string, string>;
const chinese = read("package.nls.zh-cn.json") as Record<string, string>;
const bundle = read("l10n/bundle.l10n.zh-cn.json") as Record<string, string>;
const pages = referencePages({ manifest, english, chinese, bundle, slashCommands: SLASH_COMMANDS });

test("Getting started names the oldest VS Code that will do", () => {
  const { engines } = read("package.json") as { engines: { vscode: string } };
  const oldest = /^\^(\d+\.\d+)\.0$/.exec(engines.vscode)?.[1] ?? "none";
  assert.match(
    readFileSync(join(ROOT, "docs", "getting-started.md"), "utf8"),
    new RegExp(`VS Code ${oldest.replace(".", "\\.")} or newer`),
  );
});

void describe("the pages of settings and commands", () => {
  for (const [name, text] of Object.entries(pages)) {
    test(`docs/${name} is as the manifest has it`, () =>
      assert.equal(readFileSync(join(ROOT, "docs", name), "utf8"), text, "run `npm run generate`"));
  }

  test("there are two in each language", () =>
    assert.deepEqual(Object.keys(pages), ["settings.md", "commands.md", "settings.zh-cn.md", "commands.zh-cn.md"]));

  for (const name of manifest.contributes.configuration.flatMap(({ properties }) => Object.keys(properties))) {
    test(`${name} has its text in both languages`, () => {
      for (const page of ["settings.md", "settings.zh-cn.md"]) {
        const [, text = ""] = (pages[page] ?? "").split(`### \`${name}\`\n\n`);
        assert.match(text, /^(?!%)[^\n]{5,}\n/);
      }
    });
  }

  test("no text of the manifest is left by its name", () => assert.doesNotMatch(Object.values(pages).join(""), /%[\w.-]+%/));

  test("every command is listed once", () => {
    const { commands } = manifest.contributes;
    const rows = (pages["commands.md"] ?? "").split("\n").filter((line) => /^\| (?:Ullage: |\w+ file )/.test(line));
    assert.equal(rows.length, commands.length);
  });
});
