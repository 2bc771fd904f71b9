/** What the manifest promises about trust (where keys go and whether commands are fenced in is not for a repository to say), and its texts. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ROOT } from "./repository";

interface Manifest {
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
  contributes: { configuration: { properties: Record<string, { scope?: string }> } | { properties: Record<string, { scope?: string }> }[] };
}

const manifest = JSON.parse(readFileSync(join(ROOT, "client-extension", "package.json"), "utf8")) as Manifest;
const groups = [manifest.contributes.configuration].flat();
const settings = Object.assign({}, ...groups.map((group) => group.properties)) as Record<string, { scope?: string }>;

void describe("settings that decide where keys go and what commands may do", () => {
  for (const name of ["ullage.model.baseUrl", "ullage.bash.sandbox", "ullage.server.command", "ullage.server.interpreter"]) {
    test(`${name} cannot be set by a workspace`, () => assert.equal(settings[name]?.scope, "machine"));
  }
  for (const name of ["ullage.server.command", "ullage.server.interpreter", "ullage.model.provider"]) {
    test(`${name} of a workspace counts only where the workspace is trusted`, () =>
      assert.ok(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations.includes(name)));
  }
});

test("every text of the manifest is there, and none is left over", () => {
  const texts = JSON.parse(readFileSync(join(ROOT, "client-extension", "package.nls.json"), "utf8")) as Record<string, string>;
  const named = Array.from(JSON.stringify(manifest).matchAll(/"%([^%"]+)%"/g), ([, name]) => name ?? "");
  assert.deepEqual([...new Set(named)].toSorted(), Object.keys(texts).toSorted());
});
