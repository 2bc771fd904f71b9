import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import type { Python } from "../../client-extension/src/server/python";
import type { RunProgram } from "../../client-extension/src/server/process";
import { EnvironmentError } from "../../client-extension/src/server/environmentTrouble";
import {
  addExtra,
  ensureEnvironment,
  type EnvironmentKeeper,
  removeEnvironments,
  whileHeld,
} from "../../client-extension/src/server/managedEnvironment";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ullage-environment-"));
  mkdirSync(join(folder, "package"));
  mkdirSync(join(folder, "storage"));
  writeFileSync(join(folder, "package", "ullage-0.1.0-py3-none-any.whl"), "wheel");
  writeFileSync(join(folder, "package", "requirements.lock"), "lock");
  writeFileSync(join(folder, "package", "requirements-clouds.lock"), "lock of clouds");
  writeFileSync(join(folder, "package", "requirements-team.lock"), "lock of psycopg");
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Stands for Python and pip: `venv` makes the interpreter's file; what `fails` matches ends with its output. No pip is there before ensurepip. */
function programs(ran: string[], fails?: { match: RegExp; output: string }): RunProgram {
  let hasPip = false;
  return async (command, args) => {
    const line = [command, ...args].join(" ");
    ran.push(line);
    if (fails?.match.test(line)) {
      return { code: 1, output: fails.output };
    }
    hasPip ||= args.includes("ensurepip");
    if (line.includes("version('pip')")) {
      return { code: hasPip ? 0 : 1, output: "" };
    }
    if (args.includes("venv")) {
      assert.ok(!existsSync(args.at(-1) ?? ""));
      const interpreter = join(args.at(-1) ?? "", "bin", "python");
      mkdirSync(dirname(interpreter), { recursive: true });
      writeFileSync(interpreter, "");
    }
    return { code: 0, output: "" };
  };
}

function keeper(changes: Partial<EnvironmentKeeper> = {}): EnvironmentKeeper {
  return {
    packageFolder: join(folder, "package"),
    storageFolder: join(folder, "storage"),
    platform: "linux",
    run: programs([]),
    unpacker: "/extension/python/unpack_wheels.py",
    findPythons: finding(PYTHON),
    findUv: () => undefined,
    network: {},
    isKnown: (interpreter) => !interpreter.includes("building-"),
    wanted: [],
    log: () => undefined,
    ...changes,
  };
}

const PYTHON = { path: "/usr/bin/python3", version: "3.12", target: "linux-x64" };

const finding =
  (...usable: Python[]) =>
  async () => ({ usable, refused: [] });

/** As a build for linux-x64 brings them. */
function bringWheels(): void {
  mkdirSync(join(folder, "package", "wheels"));
  const index = { target: "linux-x64", pythons: { "3.11": ["a.whl"], "3.12": ["a.whl"] }, hashes: {} };
  writeFileSync(join(folder, "package", "wheels", "wheels.json"), JSON.stringify(index));
}

const silently = (task: (report: () => void) => Promise<void>) => task(() => undefined);
const storage = () => readdirSync(join(folder, "storage"));

test("it is made once: packages by hash, then the wheel alone", async () => {
  const ran: string[] = [];
  const first = await ensureEnvironment(keeper({ run: programs(ran) }), silently);
  assert.ok(existsSync(first));
  assert.match(
    ran.join("\n"),
    /-m venv [^\n]*\n[^\n]*-m ensurepip [^\n]*\n[^\n]*install --require-hashes -r [^\n]*requirements\.lock\n[^\n]*install --no-deps [^\n]*\.whl/,
  );
  const count = ran.length;
  assert.equal(await ensureEnvironment(keeper({ run: programs(ran) }), silently), first);
  assert.equal(ran.length, count);
});

test("the packages of the clouds are put into it by their hashes, once", async () => {
  bringWheels();
  const ran: string[] = [];
  const keeps = keeper({ run: programs(ran) });
  const made = await ensureEnvironment(keeps, silently);
  assert.doesNotMatch(ran.join("\n"), /clouds|pip install/);
  await addExtra(keeps, "clouds", made, () => undefined);
  assert.match(
    ran.join("\n"),
    /-m ensurepip\n[^\n]* install --no-deps --require-hashes --requirement [^\n]*requirements-clouds\.lock\n[^\n]*import boto3/,
  );
  const count = ran.length;
  await addExtra(keeps, "clouds", made, () => undefined);
  assert.equal(ran.length, count);
});

test("pip is put there once, however often packages are fetched", async () => {
  bringWheels();
  const ran: string[] = [];
  const keeps = keeper({ run: programs(ran, { match: /requirements-clouds/, output: "ERROR: Could not find a version" }) });
  const made = await ensureEnvironment(keeps, silently);
  await assert.rejects(
    addExtra(keeps, "clouds", made, () => undefined),
    /could not be downloaded/,
  );
  await assert.rejects(
    addExtra(keeps, "clouds", made, () => undefined),
    /could not be downloaded/,
  );
  await addExtra(keeps, "team", made, () => undefined);
  assert.equal(ran.filter((line) => line.includes("ensurepip")).length, 1);
});

test("who wanted the packages of the clouds has them in the environment of the next version, too, with uv where there is one", async () => {
  const ran: string[] = [];
  const keeps = keeper({ run: programs(ran), wanted: ["clouds"], findUv: () => "/bin/uv" });
  const made = await ensureEnvironment(keeps, silently);
  assert.match(ran.join("\n"), /uv pip install --python [^\n]* --no-deps --require-hashes --requirement [^\n]*requirements-clouds\.lock/);
  const count = ran.length;
  await ensureEnvironment(keeps, silently);
  assert.equal(ran.length, count);
  writeFileSync(join(folder, "package", "requirements-clouds.lock"), "another lock");
  assert.equal(await ensureEnvironment(keeps, silently), made);
  assert.ok(ran.length > count);
});

test("where the packages of the clouds cannot be had, the user is told why, and the server starts without them", async () => {
  const fails = { match: /requirements-clouds/, output: "Failed to fetch: dns error" };
  const log: string[] = [];
  const keeps = keeper({ run: programs([], fails), wanted: ["clouds"], log: (line) => log.push(line) });
  const made = await ensureEnvironment(keeps, silently);
  assert.ok(existsSync(made));
  assert.match(log.join("\n"), /without the packages for clouds/);
  await assert.rejects(
    addExtra(keeps, "clouds", made, () => undefined),
    /could not be downloaded/,
  );
  await assert.rejects(
    addExtra(keeper({ run: programs([], { match: /ensurepip/, output: "No module named ensurepip" }) }), "clouds", made, () => undefined),
    /has no pip .* Install uv/,
  );
});

test("what sessions in PostgreSQL need is put there beside them, and again with the next version", async () => {
  const ran: string[] = [];
  const keeps = keeper({ run: programs(ran), wanted: ["clouds"], findUv: () => "/bin/uv" });
  const made = await ensureEnvironment(keeps, silently);
  assert.doesNotMatch(ran.join("\n"), /requirements-team/);
  await addExtra(keeps, "team", made, () => undefined);
  assert.match(
    ran.join("\n"),
    /--no-deps --require-hashes --requirement [^\n]*requirements-team\.lock\n[^\n]*-c import psycopg, psycopg_pool$/,
  );
  writeFileSync(join(folder, "package", "requirements.lock"), "that of the next version");
  const next = await ensureEnvironment({ ...keeps, wanted: ["clouds", "team"] }, silently);
  assert.notEqual(next, made);
  assert.equal(ran.join("\n").split("requirements-team.lock").length, 3);
});

test("a system for which psycopg has no wheel is named as the reason", async () => {
  const output = [
    "ERROR: Could not find a version that satisfies the requirement psycopg-binary==3.3.9 (from versions: none)\nERROR: No matching distribution found for psycopg-binary==3.3.9",
    "cause: Because psycopg-binary{implementation_name != 'pypy'}==3.3.9 has no wheels with a matching platform tag (e.g., `win_arm64`)",
  ];
  for (const each of output) {
    const keeps = keeper({ run: programs([], { match: /requirements-team/, output: each }) });
    const made = await ensureEnvironment(keeps, silently);
    await assert.rejects(
      addExtra(keeps, "team", made, () => undefined),
      /cannot be had for this Python/,
    );
  }
  const offline = {
    match: /requirements-team/,
    output: "ConnectionError: no route\nNo matching distribution found for psycopg-binary==3.3.9",
  };
  const keeps = keeper({ run: programs([], offline) });
  const made = await ensureEnvironment(keeps, silently);
  await assert.rejects(
    addExtra(keeps, "team", made, () => undefined),
    /could not be downloaded/,
  );
});

test("while it is made its path is no longer than later: those of Windows have an end", async () => {
  const ran: string[] = [];
  const made = await ensureEnvironment(keeper({ run: programs(ran) }), silently);
  const names = ran.join("\n").match(/building-[\w-]+/g) ?? [];
  assert.ok(names.length > 0);
  assert.ok(names.every((name) => name.length <= dirname(dirname(made)).length - join(folder, "storage", "x").length + 1));
});

test("another wheel is another environment, and the old one goes", async () => {
  const first = await ensureEnvironment(keeper(), silently);
  writeFileSync(join(folder, "package", "ullage-0.1.0-py3-none-any.whl"), "another wheel");
  const second = await ensureEnvironment(keeper(), silently);
  assert.notEqual(second, first);
  assert.ok(!existsSync(first));
});

test("an interrupted making leaves no environment, and its remains are cleared away", async () => {
  const interrupted = keeper({ run: programs([], { match: /--no-deps/, output: "" }) });
  await assert.rejects(ensureEnvironment(interrupted, silently));
  // The process that made this one is gone: pid 1 belongs to somebody else, 2^22 to nobody.
  mkdirSync(join(folder, "storage", "building-4194304-abandoned"));
  await ensureEnvironment(keeper(), silently);
  assert.equal(storage().length, 1);
  assert.match(storage()[0] ?? "", /^environment-/);
});

test("two windows that make it at once both get it", async () => {
  const [first, second] = await Promise.all([ensureEnvironment(keeper(), silently), ensureEnvironment(keeper(), silently)]);
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
  await assert.rejects(ensureEnvironment(keeper({ run: aborting, signal: abort.signal }), silently), { name: "AbortError" });
  assert.deepEqual(storage(), []);
});

function checkFailure(name: string, changes: () => Partial<EnvironmentKeeper>, message: RegExp): void {
  test(name, async () => {
    const log: string[] = [];
    await assert.rejects(ensureEnvironment(keeper({ ...changes(), log: (line) => log.push(line) }), silently), (error) => {
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
  () => ({ findPythons: async () => ({ usable: [], refused: ["/usr/bin/python3 is 3.9", "/opt/python3 does not run"] }) }),
  /Python 3\.11 or newer was not found\. Found: \/usr\/bin\/python3 is 3\.9, \/opt\/python3 does not run\..*Server: Interpreter/,
);
checkFailure("a build without a server", () => ({ packageFolder: join(folder, "nowhere") }), /brings no server/);
checkFailure(
  "Debian's Python without its venv package",
  () => ({ run: programs([], { match: /-m venv/, output: "The virtual environment was not created because ensurepip is not available" }) }),
  /python3-venv/,
);
checkFailure(
  "a disk that is full while the environment is made",
  () => ({ run: programs([], { match: /require-hashes/, output: "OSError: [Errno 28] No space left on device" }) }),
  /disk is full.*200 MB.*restart/,
);
checkFailure(
  "a disk that is full when the server is started once",
  () => ({ run: programs([], { match: /import ullage/, output: "OSError: [Errno 28] No space left on device" }) }),
  /disk is full/,
);
checkFailure(
  "a folder that is closed to writing",
  () => ({ run: programs([], { match: /-m venv/, output: "Error: [Errno 13] Permission denied: '/storage'" }) }),
  /could not be written/,
);
checkFailure(
  "a proxy that asks for a password",
  () => ({
    run: programs([], { match: /require-hashes/, output: "OSError('Tunnel connection failed: 407 Proxy Authentication Required')" }),
  }),
  /proxy asks for a name and a password.*Http: Proxy.*HTTPS_PROXY/,
);
checkFailure(
  "a proxy that asks for a password, as uv says it",
  () => ({
    run: programs([], {
      match: /require-hashes/,
      output: "cause: error sending request\ncause: tunnel error: proxy authorization required",
    }),
  }),
  /proxy asks for a name and a password/,
);
checkFailure(
  "a proxy that is not there",
  () => ({ run: programs([], { match: /require-hashes/, output: "ProxyError('Cannot connect to proxy.', NewConnectionError(…))" }) }),
  /proxy could not be reached/,
);
checkFailure(
  "a proxy with a certificate of its own",
  () => ({
    run: programs([], { match: /require-hashes/, output: "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]" }),
  }),
  /PIP_CERT/,
);
checkFailure(
  "a server that does not start with the only Python",
  () => ({ run: programs([], { match: /import ullage/, output: "ImportError: undefined symbol: _Py_Dealloc" }) }),
  /does not run with this Python/,
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
  () => ({ run: programs([], { match: /require-hashes/, output: "error: Microsoft Visual C++ 14.0 is required" }) }),
  /could not be installed.*log/,
);
checkFailure(
  "a wheel inside that is damaged",
  () => {
    bringWheels();
    return { run: programs([], { match: /unpack_wheels/, output: "hash mismatch: a.whl" }) };
  },
  /damaged/,
);

test("wheels inside that fit are unpacked: neither pip nor uv is asked", async () => {
  bringWheels();
  const ran: string[] = [];
  await ensureEnvironment(keeper({ run: programs(ran), findUv: () => "/usr/bin/uv" }), silently);
  const index = join(folder, "package", "wheels", "wheels.json");
  const [made, unpacked, checked, ...more] = ran;
  assert.match(made ?? "", /^\/usr\/bin\/python3 -I -m venv --without-pip .*building-/);
  assert.ok(
    unpacked?.endsWith(`-I /extension/python/unpack_wheels.py ${index} ${join(folder, "package", "ullage-0.1.0-py3-none-any.whl")}`),
  );
  assert.match(checked ?? "", /-I -c import ullage/);
  assert.deepEqual(more, []);
});

for (const [what, python] of [
  ["of a version that has none", { ...PYTHON, version: "3.15" }],
  ["for another machine", { ...PYTHON, target: "linux-arm64" }],
  ["of another kind", { ...PYTHON, target: "other" }],
] as const) {
  test(`a Python ${what} gets its packages from the index`, async () => {
    bringWheels();
    const ran: string[] = [];
    await ensureEnvironment(keeper({ run: programs(ran), findPythons: finding(python) }), silently);
    assert.match(ran.join("\n"), /pip .*--require-hashes/);
  });
}

test("of several Pythons the one that the wheels inside are for is taken", async () => {
  bringWheels();
  const ran: string[] = [];
  const usable = [{ path: "/opt/python3.15", version: "3.15", target: "linux-x64" }, PYTHON];
  await ensureEnvironment(keeper({ run: programs(ran), findPythons: finding(...usable) }), silently);
  assert.match(ran[0] ?? "", /^\/usr\/bin\/python3 /);
});

test("a Python that cannot make an environment is passed over for the next", async () => {
  const ran: string[] = [];
  const usable = [{ path: "/broken/python3", version: "3.12" }, PYTHON];
  const run = programs(ran, { match: /^\/broken/, output: "No module named venv" });
  const made = await ensureEnvironment(keeper({ run, findPythons: finding(...usable) }), silently);
  assert.ok(existsSync(made));
});

test("where there is uv, it makes the environment, by hash, and through the proxy of VS Code", async () => {
  const ran: string[] = [];
  const run = programs(ran);
  const proxies: (string | undefined)[] = [];
  const asked: RunProgram = async (command, args, options) => {
    proxies.push(options?.env?.HTTPS_PROXY);
    return run(command, args, options);
  };
  const network = { HTTPS_PROXY: "http://proxy.example:8080" };
  await ensureEnvironment(keeper({ run: asked, findUv: () => "/usr/bin/uv", network }), silently);
  assert.match(
    ran.join("\n"),
    /^\/usr\/bin\/uv venv --no-project --python \/usr\/bin\/python3 [^\n]*\n[^\n]*uv pip install --python [^\n]*--require-hashes[^\n]*\n[^\n]*--no-deps/,
  );
  assert.deepEqual(new Set(proxies), new Set([network.HTTPS_PROXY]));
});

test("one whose Python is gone or was replaced is made anew at the next start", async () => {
  const interpreter = await ensureEnvironment(keeper(), silently);
  const ran: string[] = [];
  let whole = false;
  const run = programs(ran);
  const replaced: RunProgram = async (command, args, options) => {
    const result = await run(command, args, options);
    whole ||= args.includes("venv");
    return command.includes("environment-") && !whole ? { code: 1, output: "ModuleNotFoundError: No module named 'ullage'" } : result;
  };
  const unknown = { run: replaced, isKnown: () => false };
  assert.equal(await ensureEnvironment(keeper(unknown), silently), interpreter);
  assert.match(ran.join("\n"), /-m venv/);
  assert.equal(storage().length, 1);
});

test("one that is sound is left as it is, though its last start failed", async () => {
  await ensureEnvironment(keeper(), silently);
  const ran: string[] = [];
  await ensureEnvironment(keeper({ run: programs(ran), isKnown: () => false }), silently);
  assert.equal(ran.length, 1);
});

test("a broken one that cannot be written over is replaced", async () => {
  const interpreter = await ensureEnvironment(keeper(), silently);
  rmSync(interpreter);
  writeFileSync(join(dirname(interpreter), "left"), "");
  const gone: RunProgram = async (command, args, options) =>
    command === interpreter ? { code: null, output: "ENOENT" } : programs([])(command, args, options);
  assert.equal(await ensureEnvironment(keeper({ run: gone }), silently), interpreter);
  assert.ok(existsSync(interpreter));
  assert.ok(!existsSync(join(dirname(interpreter), "left")));
});

test("removing takes environments and what was half made, and nothing else", async () => {
  await ensureEnvironment(keeper(), silently);
  mkdirSync(join(folder, "storage", "building-1-half"));
  mkdirSync(join(folder, "storage", "state"));
  await removeEnvironments(join(folder, "storage"), () => undefined);
  assert.deepEqual(storage(), ["state"]);
});

test("passwords of a proxy do not get into the log", async () => {
  const log: string[] = [];
  const output = "Cannot connect to http://jane:secret@proxy.example:8080/";
  const run = programs([], { match: /require-hashes/, output });
  await assert.rejects(ensureEnvironment(keeper({ run, log: (line) => log.push(line) }), silently));
  assert.match(log.join("\n"), /http:\/\/…@proxy\.example/);
  assert.doesNotMatch(log.join("\n"), /secret/);
});

/** A move that fails so many times with that code. */
function held(code: string, times: number): { move: () => Promise<void>; tried: () => number } {
  let tries = 0;
  const move = async () => {
    tries += 1;
    if (tries <= times) throw Object.assign(new Error(code), { code });
  };
  return { move, tried: () => tries };
}

test("a folder that a virus scanner holds on Windows is moved once it is let go; elsewhere, and for other reasons, nobody waits", async () => {
  const soon = { pause: 1, tries: 4 };
  const scanned = held("EPERM", 3);
  await whileHeld("win32", scanned.move, soon);
  assert.equal(scanned.tried(), 4);
  for (const [platform, code] of [
    ["win32", "ENOTEMPTY"],
    ["linux", "EPERM"],
  ] as const) {
    const other = held(code, 3);
    await assert.rejects(whileHeld(platform, other.move, soon), { code });
    assert.equal(other.tried(), 1);
  }
  await assert.rejects(whileHeld("win32", held("EBUSY", 9).move, soon), { code: "EBUSY" });
});

for (const said of [
  "[WinError 112] Es steht nicht genug Speicherplatz auf dem Datenträger zur Verfügung",
  "磁盘空间不足。 (os error 112)",
]) {
  checkFailure(
    "a full disk is known by its number, in whatever language: " + said,
    () => ({ run: programs([], { match: /--no-deps/, output: said }) }),
    /disk is full/,
  );
}
