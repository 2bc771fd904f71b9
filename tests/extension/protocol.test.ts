/** The types of this side, PROTOCOL.md and the fixtures say the same. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { METHODS, PROTOCOL_VERSION, USER_ERROR_CODE } from "../../client-extension/src/protocol";
import { readFixtures, ROOT, type Fixture } from "./repository";

const DOCUMENT = readFileSync(join(ROOT, "PROTOCOL.md"), "utf8");
const FIXTURES = readFixtures();

test("PROTOCOL.md and these types name the same methods", () => {
  const documented = Array.from(DOCUMENT.matchAll(/`(ullage\/\w+\/\w+)`/g), ([, method]) => method ?? "");
  const typed = [...Object.values(METHODS).flat()];
  assert.deepEqual([...new Set(documented)].toSorted(), typed.toSorted());
});

test("the fixtures and these types name the same methods", () => {
  const methods = FIXTURES.flatMap(({ content }) => (typeof content.method === "string" ? [content.method] : []));
  const typed: string[] = [...Object.values(METHODS).flat()];
  assert.deepEqual(methods.toSorted(), typed.toSorted());
});

test("PROTOCOL.md and these types have the same version and error code", () => {
  assert.ok(DOCUMENT.includes(`Protocol version: **${PROTOCOL_VERSION}**`));
  assert.ok(DOCUMENT.replaceAll("−", "-").includes(`Errors have the code ${USER_ERROR_CODE}`));
});

test("every fixture is a value of its type", () => {
  const folder = mkdtempSync(join(ROOT, "client-extension", ".fixtures-"));
  try {
    const source = join(folder, "fixtures.ts");
    writeFileSync(source, ['import type * as protocol from "../src/protocol";', ...FIXTURES.flatMap(assertionsOf)].join("\n"));
    const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
    const flags = ["--noEmit", "--strict", "--skipLibCheck", "--ignoreConfig", "--module", "preserve", "--target", "es2022", "--types", ""];
    execFileSync(process.execPath, [tsc, ...flags, source], { encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    assert.fail(`${String((error as { stdout?: string }).stdout)}${String(error)}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** Lines of TypeScript that do not compile where a fixture lacks a key of its type, has one too many, or has a wrong value. */
function assertionsOf({ name, content }: Fixture): string[] {
  return ["complete", "minimal"].flatMap((variant) => {
    const value = content[variant] as Record<string, unknown> | undefined;
    if (value === undefined || content.type === "error") {
      return [];
    }
    return typesOf(content).map(([type, key]) => {
      const json = JSON.stringify(key === undefined ? value : (value[key] ?? {}));
      return `// ${name}, ${variant}\n(${json}) satisfies ${type};`;
    });
  });
}

function typesOf(content: Fixture["content"]): [type: string, key?: string][] {
  const { method, type, from } = content as { method?: string; type: string; from?: string };
  if (method === undefined) {
    return [[`protocol.${type}`]];
  }
  if (type === "notification") {
    return [[`protocol.${from === "client" ? "ClientNotifications" : "ServerNotifications"}["${method}"]`, "params"]];
  }
  const table = from === "client" ? "ClientRequests" : "ServerRequests";
  return [
    [`protocol.${table}["${method}"][0]`, "params"],
    [`protocol.${table}["${method}"][1]`, "result"],
  ];
}
