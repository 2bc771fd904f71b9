/** What the manifest promises about trust (where keys go and whether commands are fenced in is not for a repository to say), and its texts. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { keyInWords } from "../../client-extension/src/format";
import { CHANGE_KEYS } from "../../client-extension/src/review/reviewText";
import { APPROVAL_KEYS } from "../../client-extension/src/session/approvals";
import { ROOT } from "./repository";

interface Manifest {
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
  contributes: {
    keybindings: { command: string; key: string; mac: string; when: string }[];
    configuration: { properties: Record<string, { scope?: string }> } | { properties: Record<string, { scope?: string }> }[];
  };
}

const manifest = JSON.parse(readFileSync(join(ROOT, "client-extension", "package.json"), "utf8")) as Manifest;
const groups = [manifest.contributes.configuration].flat();
const settings = Object.assign({}, ...groups.map((group) => group.properties)) as Record<string, { scope?: string }>;

void describe("settings that decide where keys go and what commands may do", () => {
  for (const name of [
    "ullage.model.baseUrl",
    "ullage.model.facts",
    "ullage.bedrock.region",
    "ullage.bedrock.profile",
    "ullage.bedrock.baseUrl",
    "ullage.vertex.region",
    "ullage.vertex.project",
    "ullage.vertex.baseUrl",
    "ullage.bash.sandbox",
    "ullage.server.command",
    "ullage.server.interpreter",
    "ullage.hooks.enabled",
    "ullage.instructions.home",
  ]) {
    test(`${name} cannot be set by a workspace`, () => assert.equal(settings[name]?.scope, "machine"));
  }
  for (const name of ["ullage.server.command", "ullage.server.interpreter", "ullage.model.provider"]) {
    test(`${name} of a workspace counts only where the workspace is trusted`, () =>
      assert.ok(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations.includes(name)));
  }
});

/** As the manifest binds it: `ctrl+alt+u`. */
const bindings = (command: string, when: string) =>
  manifest.contributes.keybindings.filter((binding) => binding.command === command && binding.when === when);

void describe("a question that waits is answered by keys from everywhere", () => {
  const approvals = "ullage.approvals > 0 && !inQuickInput";
  for (const [command, key, when] of [
    ["ullage.allow", APPROVAL_KEYS.anywhere.allow, approvals],
    ["ullage.refuse", APPROVAL_KEYS.anywhere.refuse, approvals],
    ["ullage.nextApproval", APPROVAL_KEYS.anywhere.next, "(ullage.approvals > 0 || ullage.questions > 0) && !inQuickInput"],
  ] as const) {
    test(`${command} by ${key}, and only while one waits`, () => {
      const [binding, ...more] = bindings(command, when);
      assert.deepEqual([binding?.key, binding?.mac, more], [key.toLowerCase(), keyInWords(key, true).toLowerCase(), []]);
    });
  }

  for (const [command, key] of [
    ["ullage.allow", APPROVAL_KEYS.inPanel.allow],
    ["ullage.refuse", APPROVAL_KEYS.inPanel.refuse],
  ] as const) {
    test(`${command} by ${key} in the panel alone: it means something else in an editor`, () =>
      assert.equal(bindings(command, "ullage.approvals > 0 && ullage.chatFocused")[0]?.key, key.toLowerCase()));
  }
});

void describe("changes of the agent are gone through by keys in a file that has some", () => {
  for (const [command, key] of [
    ["ullage.nextChange", CHANGE_KEYS.next],
    ["ullage.previousChange", CHANGE_KEYS.previous],
    ["ullage.keepChange", CHANGE_KEYS.keep],
    ["ullage.undoChange", CHANGE_KEYS.undo],
  ] as const) {
    test(`${command} by ${key}`, () => {
      const [binding, ...more] = manifest.contributes.keybindings.filter((each) => each.command === command);
      assert.deepEqual([binding?.key, binding?.mac, more], [key.toLowerCase(), keyInWords(key, true).toLowerCase(), []]);
      assert.match(binding?.when ?? "", /editorTextFocus && ullage\.fileHasChanges/);
    });
  }
});

/** VS Code's own key bindings with two modifiers or more, by key, with where they hold: VS Code 1.106 for the browser shows them as JSON. */
const DEFAULTS = JSON.parse(readFileSync(join(ROOT, "tests", "extension", "defaultKeys.json"), "utf8")) as Record<
  "linux" | "windows" | "mac",
  Record<string, string[]>
>;

/** Where ours holds, theirs does not: what both need cannot be at once. */
const APART: readonly (readonly [ours: RegExp, theirs: RegExp])[] = [
  [/!inQuickInput/, /inQuickInput/],
  // The focus is in the page of the panel, so in none of these.
  [
    /ullage\.chatFocused/,
    /inQuickInput|editorTextFocus|listFocus|notebookCellListFocused|fileMatchFocus|folderMatchFocus|inSearchEditor|inChatInput|agentSessionsViewerFocused/,
  ],
  [/editorTextFocus/, /inKeybindings/],
  // VS Code's own agent is asked for its changes; both at once in one file is for nobody.
  [/ullage\.fileHasChanges/, /chatEdits\.hasEditorModifications/],
];

const inOrder = (key: string) => {
  const parts = key.split("+");
  return [...parts.slice(0, -1).toSorted(), parts.at(-1)].join("+");
};

void describe("no key of ours takes one of VS Code's own", () => {
  for (const { command, key, mac, when } of manifest.contributes.keybindings) {
    test(`${key} for ${command}`, () => {
      for (const platform of ["linux", "windows", "mac"] as const) {
        const theirs = DEFAULTS[platform][inOrder(platform === "mac" ? mac : key)] ?? [];
        const taken = theirs.filter((where) => !APART.some(([ours, other]) => ours.test(when) && other.test(where)));
        assert.deepEqual(taken, [], platform);
      }
    });
  }
});

test("a running turn is stopped by a key from everywhere, and only while one runs", () => {
  const [binding] = bindings("ullage.stop", "ullage.ready && ullage.sessionState != idle");
  assert.deepEqual([binding?.key, binding?.mac], ["ctrl+alt+shift+s", "cmd+alt+shift+s"]);
});

test("every text of the manifest is there, and none is left over", () => {
  const texts = JSON.parse(readFileSync(join(ROOT, "client-extension", "package.nls.json"), "utf8")) as Record<string, string>;
  const named = Array.from(JSON.stringify(manifest).matchAll(/"%([^%"]+)%"/g), ([, name]) => name ?? "");
  assert.deepEqual([...new Set(named)].toSorted(), Object.keys(texts).toSorted());
});

/** What the Marketplace and Open VSX ask for, or show. The rest is checked where the package is published (`tests/e2e/marketplaces.test.mjs`). */
void describe("as a marketplace wants it", () => {
  const extension = join(ROOT, "client-extension");
  const texts = JSON.parse(readFileSync(join(extension, "package.nls.json"), "utf8")) as Record<string, string>;
  const listed = JSON.parse(readFileSync(join(extension, "package.json"), "utf8")) as {
    [name: string]: unknown;
    keywords: string[];
    icon: string;
    contributes: { walkthroughs: { steps: { id: string; media: { markdown: string } }[] }[] };
  };

  for (const name of [
    "publisher",
    "license",
    "homepage",
    "repository",
    "bugs",
    "qna",
    "galleryBanner",
    "preview",
    "pricing",
    "categories",
  ]) {
    test(`it has ${name}`, () => assert.ok(listed[name]));
  }

  test("nothing keeps it from being published", () => assert.equal(listed["private"], undefined));
  test("thirty keywords at most, none twice", () => {
    assert.ok(listed.keywords.length <= 30);
    assert.equal(new Set(listed.keywords).size, listed.keywords.length);
  });
  test("the description fits on a card", () => assert.ok((texts["description"] ?? "").length < 200));
  test("the icon is a PNG of 128 pixels or more", () => {
    const icon = readFileSync(join(extension, listed.icon));
    assert.equal(icon.toString("latin1", 1, 4), "PNG");
    assert.ok(icon.readUInt32BE(16) >= 128 && icon.readUInt32BE(20) >= 128);
  });

  test("its page is its own, not the repository's", () => {
    const page = readFileSync(join(extension, "README.md"), "utf8");
    assert.notEqual(page, readFileSync(join(ROOT, "README.md"), "utf8"));
    assert.doesNotMatch(page, /npm (?:start|test|run)|\.svg\)/);
  });

  const pages = listed.contributes.walkthroughs.flatMap(({ steps }) => steps).map(({ media }) => media.markdown);
  for (const page of ["README.md", ...pages]) {
    test(`the pictures of ${page} are there`, () => {
      const pictures = [...readFileSync(join(extension, page), "utf8").matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)];
      assert.ok(pictures.length > 0);
      for (const [, words = "", path = ""] of pictures) {
        assert.ok(words.length > 10 && existsSync(join(extension, dirname(page), path)), path);
      }
    });
  }
});
