import assert from "node:assert/strict";
import { test } from "node:test";
import { resolveServerCommand, type ServerCommandInputs } from "../../client-extension/src/server/command";

const MANAGED = { command: "/storage/bin/python", args: ["-I", "-X", "utf8", "-m", "ullage", "serve"] };

interface Case {
  inputs: Partial<ServerCommandInputs>;
  /** Whether `import ullage` works in the interpreter of the setting. */
  importable?: boolean;
  expected: { command: string; args: string[] };
  logged: RegExp;
  ran?: string[];
}

function check(name: string, { inputs, importable = true, expected, logged, ran = [] }: Case): void {
  test(name, async () => {
    const log: string[] = [];
    const started: string[] = [];
    const resolved = await resolveServerCommand({
      trusted: true,
      command: [],
      interpreter: "",
      isKnown: () => false,
      ensureEnvironment: async () => MANAGED.command,
      run: async (command) => {
        started.push(command);
        return { code: importable ? 0 : 1, output: importable ? "" : "ModuleNotFoundError: No module named 'ullage'\n" };
      },
      log: (line) => log.push(line),
      ...inputs,
    });
    assert.deepEqual(resolved, expected);
    assert.match(log.join("\n"), logged);
    assert.deepEqual(started, ran);
  });
}

check("without settings: the managed environment", { inputs: {}, expected: MANAGED, logged: /managed environment/ });
check("a command is run as it is", {
  inputs: { command: ["/opt/ullage", "serve", "--log-level", "debug"], interpreter: "/usr/bin/python3" },
  expected: { command: "/opt/ullage", args: ["serve", "--log-level", "debug"] },
  logged: /Server: Command" is set/,
});
check("an interpreter that has the package", {
  inputs: { interpreter: "/venv/bin/python" },
  expected: { command: "/venv/bin/python", args: ["-P", "-X", "utf8", "-m", "ullage", "serve"] },
  logged: /Server: Interpreter" is set/,
  ran: ["/venv/bin/python"],
});
check("an interpreter with which the server ran last is not tried first", {
  inputs: { interpreter: "/venv/bin/python", isKnown: (path) => path === "/venv/bin/python" },
  expected: { command: "/venv/bin/python", args: ["-P", "-X", "utf8", "-m", "ullage", "serve"] },
  logged: /Server: Interpreter" is set/,
});
check("an interpreter without the package is passed over, and the log says why", {
  inputs: { interpreter: "/usr/bin/python3" },
  importable: false,
  expected: MANAGED,
  logged: /No module named 'ullage'[\s\S]*passed over/,
  ran: ["/usr/bin/python3"],
});
check("an untrusted workspace runs nothing that settings name", {
  inputs: { trusted: false, command: ["./evil"], interpreter: "./evil-python" },
  expected: MANAGED,
  logged: /not trusted/,
});

test("a managed environment that cannot be made is the caller's to explain", async () => {
  const failing = resolveServerCommand({
    trusted: true,
    command: [],
    interpreter: "",
    isKnown: () => false,
    ensureEnvironment: () => Promise.reject(new Error("no Python")),
    run: async () => ({ code: 0, output: "" }),
    log: () => undefined,
  });
  await assert.rejects(failing, /no Python/);
});
