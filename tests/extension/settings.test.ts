/** Which settings are in force, whatever a workspace writes. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { declaredIn, EXTENSION, type KnownSettings, sectionInForce, valueInForce } from "../../client-extension/src/declaredSettings";
import { ROOT } from "./repository";

type Nested = Record<string, unknown>;

const manifest = JSON.parse(readFileSync(join(ROOT, "client-extension", "package.json"), "utf8")) as { publisher: string; name: string };
const declared = declaredIn(manifest);

const DEFAULTS: Nested = { model: { baseUrl: "", provider: "auto" }, mcp: { servers: {} }, permissions: { ask: "outsideSandbox" } };

function at(values: unknown, name: string): unknown {
  return name
    .split(".")
    .filter(Boolean)
    .reduce<unknown>((value, key) => (value as Nested | null | undefined)?.[key], values);
}

/** As VS Code knows them: what the user has set, and what is in force with what a workspace has set. */
function knownAs(user: Nested, merged: unknown): KnownSettings {
  return { get: (name) => at(merged, name), inspect: (name) => ({ globalValue: at(user, name), defaultValue: at(DEFAULTS, name) }) };
}

const USERS: Nested = { mcp: { servers: { mine: { command: "/usr/bin/mine" } } }, model: { baseUrl: "https://gateway.example" } };

for (const [title, merged] of [
  ["below a name", { mcp: { servers: { mine: { command: "/bin/sh" }, evil: { command: "/bin/sh" } } }, model: { baseUrl: { x: 1 } } }],
  ["above a name", { mcp: null, model: null }],
  ["as something else", { mcp: 5, model: [] }],
  ["above all names", null],
  ["beside a name", { ...USERS, model: { baseUrl: "https://gateway.example", baseURL: "https://evil.example" } }],
] as const) {
  test(`what a workspace writes ${title} changes no setting of the machine`, () => {
    const section = sectionInForce(declared, knownAs(USERS, merged));
    assert.deepEqual(at(section, "mcp.servers"), { mine: { command: "/usr/bin/mine" } });
    assert.equal(at(section, "model.baseUrl"), "https://gateway.example");
    assert.equal(at(section, "model.baseURL"), undefined);
    assert.equal(at(section, "permissions.ask"), "outsideSandbox");
  });
}

test("what a workspace may set is in force", () => {
  const merged = { model: { provider: "openai", name: "qwen" }, compaction: { cap: 100_000 }, mcp: { toolsInFull: 5 } };
  const section = sectionInForce(declared, knownAs({}, merged));
  assert.equal(at(section, "model.provider"), "openai");
  assert.equal(at(section, "compaction.cap"), 100_000);
  assert.equal(at(section, "mcp.toolsInFull"), 5);
});

for (const [title, model] of [
  ["below a name", { provider: { x: 1 } }],
  ["above it", null],
  ["as nothing", { provider: null }],
] as const) {
  test(`what a workspace writes ${title} does not take the place of the user's choice, where it may make another`, () => {
    const known = knownAs({ model: { provider: "bedrock" } }, { model });
    assert.equal(valueInForce("model.provider", { scope: "window", type: "string" }, known), "bedrock");
  });
}

test("what the user has set that is no setting is told to the server, and so is what stands in the place of a group", () => {
  const user = { model: { baseURL: "https://gateway.example" }, bash: 5, permissions: null, new: { x: 1 } };
  const section = sectionInForce(declared, knownAs(user, user));
  assert.equal(at(section, "model.baseURL"), "https://gateway.example");
  assert.deepEqual([section.bash, section.new], [5, { x: 1 }]);
  assert.equal(at(section, "permissions.ask"), "outsideSandbox");
  assert.equal(user.permissions, null, "nothing of the editor's is changed");
});

test("the manifest is that of the extension that is asked for", () => {
  assert.equal(EXTENSION, `${manifest.publisher}.${manifest.name}`);
  assert.equal(declared.get("mcp.servers")?.scope, "machine");
});

test("no file but one reads settings of Ullage, as what a workspace wrote could be among them", () => {
  const source = join(ROOT, "client-extension", "src");
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts") && name !== "settings.ts");
  const reading = files.filter((name) => {
    const text = readFileSync(join(source, name), "utf8");
    return (
      /getConfiguration\("ullage[^)]*\)\s*\.get\b/.test(text) ||
      (text.includes('getConfiguration("ullage') && /\bsettings\s*\.get\b/.test(text))
    );
  });
  assert.ok(files.length > 50);
  assert.deepEqual(reading, []);
});
