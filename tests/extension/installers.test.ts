/** The environment of the server made by a real uv and a real pip, from an index on the loopback, and behind a proxy that asks for a password. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { EnvironmentError } from "../../client-extension/src/server/environmentTrouble";
import type { Extra } from "../../client-extension/src/server/extraPackages";
import { ensureEnvironment } from "../../client-extension/src/server/managedEnvironment";
import { runProgram } from "../../client-extension/src/server/process";
import { ROOT } from "./repository";

const windows = process.platform === "win32";
const BIN = join(ROOT, ".venv", windows ? "Scripts" : "bin");
const PYTHON = join(BIN, windows ? "python.exe" : "python");
const UV = join(BIN, windows ? "uv.exe" : "uv");

/** Writes a server that needs one package, that package, and a lock with its hash. */
const PACKAGES = `
import hashlib, pathlib, sys, zipfile
package, index = map(pathlib.Path, sys.argv[1:])
def wheel(folder, name, files):
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    files |= {f"{info}/METADATA": f"Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n",
              f"{info}/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"}
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{file},,\\n" for file in [*files, f"{info}/RECORD"]))
    return path
wheel(package, "ullage", {"ullage/__init__.py": "", "ullage/lsp/__init__.py": "", "ullage/lsp/server.py": "import needed_package"})
needed = wheel(index, "needed_package", {"needed_package.py": ""})
digest = lambda path: hashlib.sha256(path.read_bytes()).hexdigest()
(package / "requirements.lock").write_text(f"needed-package==1.0 --hash=sha256:{digest(needed)}\\n")
boto3 = wheel(index, "boto3", {"boto3.py": "", "google/auth/transport/requests.py": ""})
(package / "requirements-clouds.lock").write_text(f"boto3==1.0 --hash=sha256:{digest(boto3)}\\n")
psycopg = wheel(index, "psycopg", {"psycopg.py": "", "psycopg_pool.py": ""})
(package / "requirements-team.lock").write_text(f"psycopg==1.0 --hash=sha256:{digest(psycopg)}\\n")
`;

let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ullage-installers-"));
  for (const name of ["package", "index", "storage"]) mkdirSync(join(folder, name));
  const { code, output } = await runProgram(PYTHON, ["-I", "-c", PACKAGES, join(folder, "package"), join(folder, "index")]);
  assert.equal(code, 0, output);
});

afterEach(() => rmSync(folder, { recursive: true }));

const index: RequestListener = (request, response) => {
  const name = basename(request.url ?? "");
  const files = readdirSync(join(folder, "index"));
  if (files.includes(name)) {
    response.end(readFileSync(join(folder, "index", name)));
  } else if (/^\/simple\/(?:needed-package|boto3|psycopg)\/$/.test(request.url ?? "")) {
    const ofPackage = files.filter((file) => file.startsWith(name.split("-")[0] ?? ""));
    response.setHeader("content-type", "text/html");
    response.end(ofPackage.map((file) => `<a href="/files/${file}">${file}</a>`).join(""));
  } else {
    response.writeHead(404).end();
  }
};

const asksForPassword: RequestListener = (_, response) => void response.writeHead(407, { "proxy-authenticate": "Basic" }).end();

async function served(listener: RequestListener, use: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(listener);
  server.on("connect", (_, socket) => {
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="proxy"\r\nContent-Length: 0\r\n\r\n');
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** What the user would see. Of the machine's own settings of pip and uv none counts. pip names a proxy only where it tries once more. */
async function made(
  uv: string | undefined,
  from: string,
  network: Record<string, string> = {},
  wanted: readonly Extra[] = [],
): Promise<string[]> {
  const told: string[] = [];
  const own = { PIP_CONFIG_FILE: join(folder, "none"), UV_NO_CONFIG: "1", PIP_RETRIES: "1", UV_HTTP_RETRIES: "0", UV_NO_CACHE: "1" };
  const indexes = {
    PIP_INDEX_URL: from,
    UV_DEFAULT_INDEX: from,
    UV_INDEX_URL: from,
    PIP_EXTRA_INDEX_URL: "",
    PIP_FIND_LINKS: "",
    UV_OFFLINE: "0",
  };
  const interpreter = await ensureEnvironment(
    {
      packageFolder: join(folder, "package"),
      storageFolder: join(folder, "storage"),
      platform: process.platform,
      run: runProgram,
      unpacker: "",
      findPythons: async () => ({ usable: [{ path: PYTHON, version: "3.11", target: "other" }], refused: [] }),
      findUv: () => uv,
      network: { NO_PROXY: "", no_proxy: "", ...own, ...indexes, ...network },
      isKnown: () => false,
      wanted,
      log: (line) => told.push(line),
    },
    (task) => task((message) => told.push(message)),
  );
  assert.ok(existsSync(interpreter));
  return told;
}

for (const [name, uv] of [
  ["uv", UV],
  ["pip", undefined],
] as const) {
  void test(`a real ${name} makes it from an index, and says how far it is`, async () => {
    await served(index, async (url) => {
      const told = await made(uv, `${url}/simple`, {}, ["clouds", "team"]);
      for (const step of ["Making a Python environment…", "Installing the server's packages…", "Starting the server…"]) {
        assert.ok(told.includes(step), step);
      }
      assert.ok(told.includes("Installing the packages of the clouds…"));
      assert.ok(told.includes("Installing the library for PostgreSQL…"));
      assert.ok(!told.some((line) => line.includes("without the packages for")), told.join("\n"));
    });
  });

  void test(`behind a proxy that asks a real ${name} for a password, that is said, and nothing is left`, async () => {
    await served(asksForPassword, async (url) => {
      const proxies = { HTTPS_PROXY: url, HTTP_PROXY: url, https_proxy: url, http_proxy: url, ALL_PROXY: "" };
      await assert.rejects(made(uv, "https://packages.invalid/simple", proxies), (error) => {
        assert.ok(error instanceof EnvironmentError);
        assert.match(error.message, /proxy asks for a name and a password/);
        return true;
      });
      assert.deepEqual(
        readdirSync(join(folder, "storage")).filter((entry) => entry.startsWith("environment-")),
        [],
      );
    });
  });
}

void test("what the lock does not name is refused by its hash", async () => {
  writeFileSync(join(folder, "package", "requirements.lock"), `needed-package==1.0 --hash=sha256:${"0".repeat(64)}\n`);
  await served(index, async (url) => {
    await assert.rejects(made(UV, `${url}/simple`), /not what was published/);
  });
});
