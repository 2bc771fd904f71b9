/** Finding Python: programs of that name that are real, broken, old, or not what they seem. */

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { proxyVariables } from "../../client-extension/src/server/environmentTrouble";
import { type RunProgram, runProgram } from "../../client-extension/src/server/process";
import { candidatesOutside, findPythons } from "../../client-extension/src/server/python";
import { isTrap, usualPythons } from "../../client-extension/src/server/pythonPlaces";

let home: string;

before(() => (home = mkdtempSync(join(tmpdir(), "ullage-pythons-"))));
after(() => rmSync(home, { recursive: true }));

/** A program that says what a Python says when it is asked, or whatever `script` does. */
function fake(path: string, script: string): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

const says = (path: string, version: string, target = "linux-x64") => `echo ${path}; echo ${version}; echo ${target}`;

async function find(folders: string[], usual: string[] = []) {
  const log: string[] = [];
  const env = { PATH: folders.map((folder) => join(home, folder)).join(":") };
  const candidates = candidatesOutside([], env, "linux", [], (line) => log.push(line), usual);
  return { ...(await findPythons(candidates, runProgram, home, (line) => log.push(line))), log: log.join("\n") };
}

test("two Pythons: both are found, that of the first folder of the PATH first", async () => {
  const one = fake("one/python3", says("/one", "3.12"));
  fake("two/python3.13", says("/two", "3.13"));
  fake("two/python", says("/one", "3.12")); // the same one by another name
  const found = await find(["one", "two"]);
  assert.deepEqual(found.usable, [
    { path: "/two", version: "3.13", target: "linux-x64" },
    { path: "/one", version: "3.12", target: "linux-x64" },
  ]);
  assert.match(found.log, new RegExp(one));
});

test("broken ones and old ones are passed over, and named", async () => {
  const broken = fake("broken/python3", "echo 'dyld: Library not loaded' >&2; exit 134");
  const babbling = fake("broken/python3.12", "echo welcome; echo to Python");
  const old = fake("broken/python", says("/old", "3.9"));
  const good = fake("good/bin/python3", says("/good", "3.11"));
  const found = await find(["broken"], [good]);
  assert.deepEqual(
    found.usable.map(({ path }) => path),
    ["/good"],
  );
  assert.deepEqual(found.refused, [`${babbling} does not run`, `${broken} does not run`, `${old} is 3.9`]);
});

test("none at all", async () => assert.deepEqual((await find(["nothing"])).usable, []));

test("a real Python says for which system its packages are", async () => {
  const found = await findPythons(
    candidatesOutside([], process.env, process.platform, [], () => undefined),
    runProgram,
    home,
    () => undefined,
  );
  assert.ok(found.usable.length > 0);
  for (const { target } of found.usable) assert.match(target ?? "", /^(?:win32|darwin|linux|alpine)-(?:x64|arm64|x86)$|^other$/);
});

test("those in the usual places are found, newest first", () => {
  for (const path of [".pyenv/versions/3.9.18/bin/python3", ".pyenv/versions/3.13.0/bin/python3", ".pyenv/versions/3.12.1/lib"]) {
    fake(path, "");
  }
  fake(".local/share/uv/python/cpython-3.14.0-linux-x86_64-gnu/bin/python3", "");
  assert.deepEqual(usualPythons("linux", {}, home), [
    join(home, ".local/share/uv/python/cpython-3.14.0-linux-x86_64-gnu/bin/python3"),
    join(home, ".pyenv/versions/3.13.0/bin/python3"),
    join(home, ".pyenv/versions/3.9.18/bin/python3"),
  ]);
  for (const path of ["Python312/python.exe", "Python313/python.exe", "Launcher/py.exe"]) fake(`AppData/Programs/Python/${path}`, "");
  assert.deepEqual(usualPythons("win32", { LOCALAPPDATA: join(home, "AppData") }, join(home, "nobody")), [
    join(home, "AppData/Programs/Python/Python313/python.exe"),
    join(home, "AppData/Programs/Python/Python312/python.exe"),
  ]);
});

test("what would open a dialog is not started", () => {
  assert.ok(isTrap("/usr/bin/python3", "darwin"));
  assert.ok(!isTrap("/usr/bin/python3", "linux"));
});

test("a Python of the Microsoft Store is named and not taken: its environments are not where they seem", async () => {
  fake("store/python3", `printf '%s\\n' 'C:\\Users\\jane\\AppData\\Local\\Microsoft\\WindowsApps\\python3.exe' 3.13 win32-x64`);
  const found = await find(["store"]);
  assert.deepEqual(found.usable, []);
  assert.match(found.refused.join(), /python3\.exe is from the Microsoft Store/);
});

test("the proxy of VS Code is that of pip and uv", () => {
  const set = { proxy: "http://proxy:8080", noProxy: ["localhost", ".corp"], support: "override" };
  assert.deepEqual(proxyVariables(set), {
    HTTPS_PROXY: "http://proxy:8080",
    HTTP_PROXY: "http://proxy:8080",
    NO_PROXY: "localhost,.corp",
  });
  assert.deepEqual(proxyVariables({ ...set, support: "off" }), {});
  assert.deepEqual(proxyVariables({ proxy: "", noProxy: [], support: "override" }), {});
});

test("what a Python says of itself is UTF-8 on every system, so a path may have any letter", async () => {
  const asked: (readonly string[])[] = [];
  const run: RunProgram = async (_, args) => {
    asked.push(args);
    return { code: 0, output: "C:\\Users\\Zoë\\python.exe\n3.12\nwin32-x64\n" };
  };
  const found = await findPythons([{ command: "py", args: ["-3"], origin: "PATH" }], run, tmpdir(), () => undefined);
  assert.equal(found.usable[0]?.path, "C:\\Users\\Zoë\\python.exe");
  assert.deepEqual(asked[0]?.slice(0, 4), ["-3", "-X", "utf8", "-I"]);
});
