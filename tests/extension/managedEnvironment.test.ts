import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import type { RunProgram } from "../../client-extension/src/server/process";
import { ensureEnvironment, EnvironmentError, type EnvironmentMaker } from "../../client-extension/src/server/managedEnvironment";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ullage-environment-"));
  mkdirSync(join(folder, "package"));
  mkdirSync(join(folder, "storage"));
  writeFileSync(join(folder, "package", "ullage-0.1.0-py3-none-any.whl"), "wheel");
  writeFileSync(join(folder, "package", "requirements.lock"), "lock");
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Stands for Python and pip: `venv` makes the interpreter's file; what `fails` matches ends with its output. */
function programs(ran: string[], fails?: { match: RegExp; output: string }): RunProgram {
  return async (command, args) => {
    const line = [command, ...args].join(" ");
    ran.push(line);
    if (fails?.match.test(line)) {
      return { code: 1, output: fails.output };
    }
    if (args.includes("venv")) {
      const interpreter = join(args.at(-1) ?? "", "bin", "python");
      mkdirSync(dirname(interpreter), { recursive: true });
      writeFileSync(interpreter, "");
    }
    return { code: 0, output: "" };
  };
}

function maker(changes: Partial<EnvironmentMaker> = {}): EnvironmentMaker {
  return {
    packageFolder: join(folder, "package"),
    storageFolder: join(folder, "storage"),
    platform: "linux",
    run: programs([]),
    findPython: async () => ({ path: "/usr/bin/python3", version: "3.12" }),
    log: () => undefined,
    ...changes,
  };
}

const silently = (task: (report: () => void) => Promise<void>) => task(() => undefined);
const storage = () => readdirSync(join(folder, "storage"));

test("it is made once: packages by hash, then the wheel alone", async () => {
  const ran: string[] = [];
  const first = await ensureEnvironment(maker({ run: programs(ran) }), silently);
  assert.ok(existsSync(first));
  assert.match(
    ran.join("\n"),
    /-m venv [^\n]*\n[^\n]*install --require-hashes -r [^\n]*requirements\.lock\n[^\n]*install --no-deps [^\n]*\.whl/,
  );
  const count = ran.length;
  assert.equal(await ensureEnvironment(maker({ run: programs(ran) }), silently), first);
  assert.equal(ran.length, count);
});

test("another wheel is another environment, and the old one goes", async () => {
  const first = await ensureEnvironment(maker(), silently);
  writeFileSync(join(folder, "package", "ullage-0.1.0-py3-none-any.whl"), "another wheel");
  const second = await ensureEnvironment(maker(), silently);
  assert.notEqual(second, first);
  assert.ok(!existsSync(first));
});

test("an interrupted making leaves no environment, and its remains are cleared away", async () => {
  const interrupted = maker({ run: programs([], { match: /--no-deps/, output: "" }) });
  await assert.rejects(ensureEnvironment(interrupted, silently));
  // The process that made this one is gone: pid 1 belongs to somebody else, 2^22 to nobody.
  mkdirSync(join(folder, "storage", "building-4194304-abandoned"));
  await ensureEnvironment(maker(), silently);
  assert.equal(storage().length, 1);
  assert.match(storage()[0] ?? "", /^environment-/);
});

test("two windows that make it at once both get it", async () => {
  const [first, second] = await Promise.all([ensureEnvironment(maker(), silently), ensureEnvironment(maker(), silently)]);
  assert.equal(first, second);
  assert.equal(storage().length, 1);
});

test("making it can be given up, which leaves nothing behind", async () => {
  const abort = new AbortController();
  const run = programs([]);
  const aborting: RunProgram = async (command, args, options) => {
    abort.abort();
    return run(command, args, options);
  };
  await assert.rejects(ensureEnvironment(maker({ run: aborting, signal: abort.signal }), silently), { name: "AbortError" });
  assert.deepEqual(storage(), []);
});

function checkFailure(name: string, changes: () => Partial<EnvironmentMaker>, message: RegExp): void {
  test(name, async () => {
    const log: string[] = [];
    await assert.rejects(ensureEnvironment(maker({ ...changes(), log: (line) => log.push(line) }), silently), (error) => {
      assert.ok(error instanceof EnvironmentError);
      assert.match(error.message, message);
      return true;
    });
    assert.deepEqual(
      storage().filter((entry) => entry.startsWith("environment-")),
      [],
    );
  });
}

checkFailure(
  "no Python: says which and what to do",
  () => ({ findPython: async () => undefined }),
  /Python 3\.11 or newer was not found.*Server: Interpreter/,
);
checkFailure("a build without a server", () => ({ packageFolder: join(folder, "nowhere") }), /brings no server/);
checkFailure(
  "Debian's Python without its venv package",
  () => ({ run: programs([], { match: /-m venv/, output: "The virtual environment was not created because ensurepip is not available" }) }),
  /python3-venv/,
);
checkFailure(
  "no network",
  () => ({
    run: programs([], { match: /require-hashes/, output: "ERROR: Could not find a version that satisfies the requirement anthropic" }),
  }),
  /could not be downloaded/,
);
checkFailure(
  "pip fails otherwise",
  () => ({ run: programs([], { match: /require-hashes/, output: "ERROR: hash mismatch" }) }),
  /could not be installed.*log/,
);
