/**
 * The environment of the server on a disk that is really full: a small one in memory, in a namespace of its own. Each way of making it, and each of
 * its steps, with the real programs. Only Linux has such disks; `managedEnvironment.test.ts` has what programs say elsewhere.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { EnvironmentError } from "../../client-extension/src/server/environmentTrouble";
import { ensureEnvironment } from "../../client-extension/src/server/managedEnvironment";
import { runProgram } from "../../client-extension/src/server/process";
import type { Python } from "../../client-extension/src/server/python";
import { ROOT } from "./repository";

const BIN = join(ROOT, ".venv", "bin");
const UV = join(BIN, "uv");
const UNSHARE = ["--user", "--map-root-user", "--mount"];

const can = process.platform === "linux" && (await runProgram("unshare", [...UNSHARE, "true"])).code === 0;
if (!can && process.platform === "linux" && process.env.CI) {
  throw new Error("This machine lets nobody make namespaces of users, so a full disk cannot be tested");
}
const skip = can ? false : "this machine lets nobody have a disk of their own";

/** A package with one wheel of 4 MB, for the Python that runs this; prints its version and the Python it was made with. */
const BUILD = `
import hashlib, json, os, pathlib, sys, zipfile
package = pathlib.Path(sys.argv[1])
name = "large-1.0-py3-none-any.whl"
wheel = package / "wheels" / name
with zipfile.ZipFile(wheel, "w") as archive:
    archive.writestr("large.bin", os.urandom(4_000_000))
version = f"{sys.version_info.major}.{sys.version_info.minor}"
digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
(wheel.parent / "wheels.json").write_text(json.dumps({"target": "here", "pythons": {version: [name]}, "hashes": {name: digest}}))
print(version, sys._base_executable)
`;

let folder: string;
let python: Python;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ullage-disk-"));
  mkdirSync(join(folder, "package", "wheels"), { recursive: true });
  mkdirSync(join(folder, "storage"));
  writeFileSync(join(folder, "package", "requirements.lock"), "");
  writeFileSync(join(folder, "package", "ullage-1.0-py3-none-any.whl"), "");
  const { code, output } = await runProgram(join(BIN, "python"), ["-I", "-c", BUILD, join(folder, "package")]);
  assert.equal(code, 0, output);
  const [version = "", path = ""] = output.trim().split(" ");
  python = { path, version, target: "here" };
});

afterEach(() => rmSync(folder, { recursive: true }));

/**
 * Mounts a disk of that many KiB for `use` alone: in a namespace of a process, through whose root everybody else reaches it. A file takes 4 KiB at
 * least.
 */
async function withDisk(size: number, use: (storage: string) => Promise<void>): Promise<void> {
  const script = 'mount -t tmpfs -o "size=$1k" tmpfs "$2" && echo mounted && exec cat';
  const storage = join(folder, "storage");
  const holder = spawn("unshare", [...UNSHARE, "sh", "-c", script, "disk", String(size), storage]);
  const ended = once(holder, "close");
  try {
    const said = await Promise.race([once(holder.stdout, "data"), ended]);
    assert.match(String(said[0]), /mounted/);
    await use(`/proc/${holder.pid}/root${storage}`);
  } finally {
    holder.stdin.end();
    await ended;
  }
}

const small = 1_000;
const tiny = 16;

for (const [name, size, uv, target] of [
  ["the wheels inside are unpacked", small, undefined, "here"],
  ["Python makes an environment for them", tiny, undefined, "here"],
  ["Python puts pip into an environment", small, undefined, "elsewhere"],
  ["uv makes an environment", tiny, UV, "elsewhere"],
] as const) {
  void test(`a disk that becomes full while ${name} is said, and nothing is left on it`, { skip }, async () => {
    await withDisk(size, async (storage) => {
      const log: string[] = [];
      const making = ensureEnvironment(
        {
          packageFolder: join(folder, "package"),
          storageFolder: storage,
          platform: process.platform,
          run: runProgram,
          unpacker: join(ROOT, "client-extension", "python", "unpack_wheels.py"),
          findPythons: async () => ({ usable: [{ ...python, target }], refused: [] }),
          findUv: () => uv,
          network: { UV_NO_CONFIG: "1", UV_NO_CACHE: "1" },
          isKnown: () => false,
          wanted: [],
          log: (line) => log.push(line),
        },
        (task) => task(() => undefined),
      );
      await assert.rejects(making, (error) => {
        assert.ok(error instanceof EnvironmentError, String(error));
        assert.match(error.message, /The disk is full/, log.join("\n"));
        return true;
      });
      assert.deepEqual(readdirSync(storage), []);
    });
  });
}
