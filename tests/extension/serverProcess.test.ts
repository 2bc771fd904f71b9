/** Small parts around the server process: which Python, which variables, how often again, how its log is read. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import {
  type LogLine,
  LogLineReader,
  RestartPolicy,
  type RunProgram,
  runProgram,
  startProcess,
} from "../../client-extension/src/server/process";
import { findPythons, isNewEnough } from "../../client-extension/src/server/python";
import { serverEnvironment } from "../../client-extension/src/server/command";

const CANDIDATES = ["python3.13", "python3.12", "python3.11", "python3", "python"].map((command) => ({
  command,
  args: [],
  origin: "PATH",
}));

const MINUTE = 60_000;

for (const [version, expected] of [
  ["3.10", false],
  ["3.11", true],
  ["3.14", true],
  ["2.7", false],
  ["4.0", true],
] as const) {
  test(`Python ${version} is ${expected ? "new enough" : "too old"}`, () => assert.equal(isNewEnough(version), expected));
}

test("the first Python that runs and is new enough is taken; the log says why not the others", async () => {
  const versions: Record<string, string> = { "python3.11": "", python3: "3.9", python: "3.12" };
  const run: RunProgram = async (command) => {
    const version = versions[command];
    return version ? { code: 0, output: `/usr/bin/${command}\n${version}\n` } : { code: null, output: "not found" };
  };
  const log: string[] = [];
  const { usable } = await findPythons(CANDIDATES, run, "/", (line) => log.push(line));
  assert.deepEqual(usable, [{ path: "/usr/bin/python", version: "3.12", target: undefined }]);
  assert.match(log.join("\n"), /python3\.13 \(PATH\) does not run[\s\S]*python3 \(PATH\) is 3\.9, 3\.11 or newer is needed/);
});

test("a program's output is read, and the API key is not in its environment", async () => {
  process.env.ANTHROPIC_API_KEY = "sk-ant-secret";
  const lines: string[] = [];
  const script = "console.log('one'); console.error(String(process.env.ANTHROPIC_API_KEY)); process.exitCode = 3";
  const result = await runProgram(process.execPath, ["-e", script], { onLine: (line) => lines.push(line) });
  delete process.env.ANTHROPIC_API_KEY;
  assert.equal(result.code, 3);
  assert.deepEqual(lines.toSorted(), ["one", "undefined"]);
});

test("a program that is not there has no code", async () => {
  const result = await runProgram("/nowhere/python", []);
  assert.equal(result.code, null);
  assert.match(result.output, /ENOENT/);
});

test("the server gets the key, and nothing that is the editor's own", () => {
  const inherited = { PATH: "/bin", ANTHROPIC_API_KEY: "inherited", ELECTRON_RUN_AS_NODE: "1", VSCODE_PID: "7", EMPTY: undefined };
  const kept = { PATH: "/bin", ANTHROPIC_API_KEY: "inherited" };
  assert.deepEqual(serverEnvironment(inherited, undefined), kept);
  const bound = { ...kept, ULLAGE_API_KEY: "stored", ULLAGE_API_KEY_ADDRESS: "http://proxy" };
  assert.deepEqual(serverEnvironment(inherited, { key: "stored", address: "http://proxy" }), bound);
  const ofAnother = { ...inherited, ULLAGE_API_KEY: "theirs", ULLAGE_API_KEY_ADDRESS: "http://theirs" };
  assert.deepEqual(serverEnvironment(ofAnother, { key: "stored", address: undefined }), { ...kept, ULLAGE_API_KEY: "stored" });
});

test("four restarts in three minutes, not five", () => {
  const policy = new RestartPolicy();
  assert.deepEqual(
    [0, 10_000, 20_000, 30_000, 40_000].map((now) => policy.allowsRestart(now)),
    [true, true, true, true, false],
  );
});

test("restarts that lie further apart are no loop", () => {
  const policy = new RestartPolicy();
  for (let count = 0; count < 20; count += 1) {
    assert.equal(policy.allowsRestart(count * MINUTE), true);
  }
});

test("a start that the user asks for begins the count anew", () => {
  const policy = new RestartPolicy();
  [0, 1, 2, 3, 4].forEach((now) => policy.allowsRestart(now));
  policy.reset();
  assert.equal(policy.allowsRestart(5), true);
});

function checkLog(name: string, chunks: string[], expected: LogLine[]): void {
  test(name, () => {
    const reader = new LogLineReader();
    assert.deepEqual(
      chunks.flatMap((chunk) => reader.read(chunk)),
      expected,
    );
  });
}

checkLog(
  "each line has its level",
  ["INFO ullage.lsp: ready\nWARNING ullage.store: slow disk\n"],
  [
    { level: "info", text: "ullage.lsp: ready" },
    { level: "warn", text: "ullage.store: slow disk" },
  ],
);
checkLog(
  "a line may come in pieces",
  ["DEB", "UG a: b\nINF", "O c: d\r\n"],
  [
    { level: "debug", text: "a: b" },
    { level: "info", text: "c: d" },
  ],
);
checkLog(
  "a traceback has the level of its error",
  ["INFO a: b\nERROR a: failed\nTraceback (most recent call last):\n  File x\n"],
  [
    { level: "info", text: "a: b" },
    { level: "error", text: "a: failed" },
    { level: "error", text: "Traceback (most recent call last):" },
    { level: "error", text: "  File x" },
  ],
);
checkLog("what comes from outside of logging is an error", ["Segmentation fault\n"], [{ level: "error", text: "Segmentation fault" }]);

test("what a server writes before anybody listens is not lost", async () => {
  const script = "process.stdout.write('early', () => process.stderr.write('written')); process.stdin.resume()";
  const server = startProcess({ command: process.execPath, args: ["-e", script] }, { env: {}, cwd: "/" });
  const { stdout, stderr } = await server.started;
  assert.ok(stdout && stderr);
  await once(stderr, "data");
  const [chunk] = (await once(stdout, "data")) as [Buffer];
  assert.equal(chunk.toString(), "early");
  server.kill();
});

test("a server that does not end by itself is ended", async () => {
  const script = "process.on('SIGINT', () => undefined); setInterval(() => undefined, 1000)";
  const server = startProcess({ command: process.execPath, args: ["-e", script] }, { env: {}, cwd: "/" });
  const child = await server.started;
  server.endSoon();
  assert.deepEqual(await once(child, "exit"), [null, "SIGTERM"]);
});

test("a server that cannot be started says so to whoever waits for it", async () => {
  const server = startProcess({ command: "/nowhere/python", args: [] }, { env: {}, cwd: "/" });
  await assert.rejects(server.started, /ENOENT/);
  server.kill();
});
