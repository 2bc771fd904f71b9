import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { isReallyInside, liesIn } from "../../client-extension/src/files/places";
import { candidatesOutside, findOnPath } from "../../client-extension/src/server/python";

let home: string;
let workspace: string;

function program(...parts: string[]): string {
  const path = join(home, ...parts);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, 0o755);
  return path;
}

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ullage-outside-"));
  workspace = join(home, "workspace");
  program("workspace", ".venv", "bin", "python3");
  program("workspace", "python3");
  program("usr", "bin", "python3");
  program("workspace-tools", "python3");
  mkdirSync(join(home, "links"));
  symlinkSync(join(workspace, "python3"), join(home, "links", "python3"));
  symlinkSync(workspace, join(home, "opened"));
  symlinkSync(join(home, "usr", "bin", "python3"), join(workspace, "usr-python"));
});

afterEach(() => rmSync(home, { recursive: true }));

function checkInside(path: string, expected: boolean): void {
  const shown = path === "." ? path : join("~", path);
  void test(`${shown} lies in the workspace: ${String(expected)}`, () =>
    assert.equal(liesIn(path === "." ? path : join(home, path), [workspace]), expected));
}

checkInside("workspace/.venv/bin/python3", true);
checkInside("workspace", true);
checkInside("links/python3", true);
checkInside("opened/python3", true);
checkInside("workspace/usr-python", true);
checkInside("workspace/gone", true);
checkInside("workspace-tools/python3", false);
checkInside("usr/bin/python3", false);
checkInside("usr/../workspace/python3", true);
checkInside("workspace/..hidden/python3", true);
checkInside(".", true);

test("a folder may be opened by a link", () => {
  assert.ok(liesIn(join(workspace, "python3"), [join(home, "opened")]));
});

function checkLeads(path: string, expected: boolean): void {
  void test(`workspace/${path} leads into the workspace: ${String(expected)}`, async () => {
    symlinkSync(join(home, "usr"), join(workspace, "out"));
    symlinkSync(join(home, "usr", "gone"), join(workspace, "out-to-nothing"));
    symlinkSync(join(workspace, ".venv"), join(workspace, "in"));
    assert.equal(await isReallyInside(join(workspace, path), [{ top: workspace, within: [workspace] }]), expected);
  });
}

checkLeads("python3", true);
checkLeads("in/bin/python3", true);
checkLeads("made/later.py", true);
checkLeads("in/made/later.py", true);
checkLeads("usr-python", false);
checkLeads("out/bin/python3", false);
checkLeads("out/made/later.py", false);
checkLeads("out-to-nothing", false);
checkLeads("out-to-nothing/made/later.py", false);

function checkFound(entries: string, expected: string | undefined): void {
  void test(`the program on the PATH ${entries}: ${String(expected)}`, () => {
    const found = findOnPath("python3", { PATH: entries.replaceAll("~", home) }, "linux", [workspace]);
    assert.equal(found, expected === undefined ? undefined : join(home, expected));
  });
}

checkFound("~/usr/bin", "usr/bin/python3");
checkFound(".:~/usr/bin", "usr/bin/python3");
checkFound(":~/workspace/.venv/bin:~/links:bin:~/usr/bin", "usr/bin/python3");
checkFound("~/workspace/.venv/bin", undefined);
checkFound("~/opened", undefined);
checkFound("", undefined);

test("of what the editor chose and what PATH has, only what lies outside is tried", () => {
  const chosen = [
    { command: join(workspace, ".venv", "bin", "python3"), args: [], origin: "ms-python.python" },
    { command: "python", args: [], origin: "ms-python.python" },
    { command: join(home, "workspace-tools", "python3"), args: [], origin: "ms-python.python" },
  ];
  const log: string[] = [];
  const env = { PATH: `${workspace}/.venv/bin:${join(home, "usr", "bin")}` };
  const found = candidatesOutside(chosen, env, "linux", [workspace], (line) => log.push(line));
  assert.deepEqual(
    found.map((candidate) => candidate.command),
    [join(home, "workspace-tools", "python3"), join(home, "usr", "bin", "python3")],
  );
  assert.equal(log.length, 2);
});
