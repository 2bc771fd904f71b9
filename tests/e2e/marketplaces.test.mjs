/**
 * The packaged extension is published with vsce and with ovsx, to a Marketplace and an Open VSX of the test's own. It needs no window.
 *
 * Both programs check a file before they send it. The Marketplace here refuses whoever comes, so all that is seen of vsce is that its own checks
 * have passed. Open VSX here takes what the real one takes.
 */

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import test, { after } from "node:test";
import { hostTarget, packingTools, TARGETS } from "../../scripts/lib/extension.mjs";
import { installTool } from "../../scripts/lib/npm.mjs";
import { capture } from "../../scripts/lib/processes.mjs";
import { packageForHere } from "./harness/vscode.mjs";

/** Of Open VSX, in characters (`ExtensionValidator.java` there, April 2026) and bytes (`PublishingConfig.java`). */
const LONGEST = { text: 255, description: 2048, colour: 16 };
const LARGEST = 512 * 1024 * 1024;

const folder = await mkdtemp(join(tmpdir(), "ullage-markets-"));
after(() => rm(folder, { recursive: true }));

void test("vsce finds nothing wrong with the package", async () => {
  const { node, vsce } = await packingTools();
  const asked = /** @type {string[]} */ ([]);
  await served(
    (request) => (asked.push(`${request.method} ${request.url}`), { status: 401, body: "{}" }),
    async (url) => {
      const env = { ...process.env, VSCE_MARKETPLACE_URL: url, VSCE_PAT: "none", VSCE_STORE: "file", HOME: folder };
      const publish = ["publish", "--pre-release", "--packagePath"];
      const { output } = await capture([node, vsce, ...publish, await packageForHere()], { env });
      assert.ok(asked.length > 0, `nothing was sent: ${output}`);
    },
  );
});

void test("Open VSX takes the package", async () => {
  const { node } = await packingTools();
  const tool = await installTool("ovsx", { title: "Fetching ovsx, which publishes to Open VSX", node });
  const taken = /** @type {Vsix[]} */ ([]);
  await served(openVsx(taken), async (url) => {
    const env = { ...process.env, HOME: folder };
    const ovsx = join(tool, "node_modules", "ovsx", "bin", "ovsx");
    const command = [node, ovsx, "publish", await packageForHere(), "--registryUrl", url, "--pat", "none"];
    const { code, output } = await capture(command, { env });
    assert.equal(code, 0, output);
    assert.match(output, /Published ullage\.ullage v\d/);
  });
  const metadata = taken[0]?.xmlManifest.PackageManifest.Metadata[0];
  assert.equal(metadata?.Identity[0].$.TargetPlatform, hostTarget());
  assert.equal(property(metadata, "Code.PreRelease"), "true");
  assert.equal(property(metadata, "Content.Pricing"), "Free");
});

void test("that Open VSX refuses what the real one refuses", async () => {
  const { manifest, xmlManifest } = await read(await packageForHere());
  const [metadata] = xmlManifest.PackageManifest.Metadata;
  const changed = (/** @type {object} */ more) => ({
    manifest,
    xmlManifest: { PackageManifest: { Metadata: [{ ...metadata, ...more }] } },
  });
  assert.deepEqual(complaints({ manifest, xmlManifest }), []);
  assert.match(complaints(changed({ Tags: ["a,b\u0000"] })).join(), /Tags/);
  assert.match(complaints(changed({ DisplayName: ["x".repeat(256)] })).join(), /DisplayName/);
  assert.match(complaints({ manifest: { ...manifest, license: undefined }, xmlManifest }).join(), /license/);
  assert.match(complaints({ manifest: { ...manifest, qna: "ask me" }, xmlManifest }).join(), /qna/);
});

void test("VS Code has a target for each package", async () => {
  const { vsce } = await packingTools();
  const { Targets } = createRequire(vsce)("./out/package.js");
  assert.deepEqual(
    TARGETS.filter((target) => !Targets.has(target)),
    [],
  );
});

/**
 * @typedef {{method?: string, url?: string, body: Buffer}} Asked
 * @typedef {{[field: string]: any}} Metadata
 * @typedef {{manifest: {[field: string]: any}, xmlManifest: {PackageManifest: {Metadata: Metadata[]}}}} Vsix
 */

/** @param {Vsix[]} taken @returns {(asked: Asked) => Promise<{status: number, body: string}>} */
function openVsx(taken) {
  return async ({ method, url = "", body }) => {
    const { pathname } = new URL(url, "http://localhost");
    if (method === "GET" && pathname === "/api/version") return { status: 200, body: JSON.stringify({ version: "1.3.0" }) };
    if (method === "GET" && pathname === "/api/-/size-limit") return { status: 200, body: JSON.stringify({ maxSize: LARGEST }) };
    if (method !== "POST" || pathname !== "/api/-/publish") return { status: 404, body: JSON.stringify({ error: `no ${url}` }) };
    const file = join(folder, `taken-${taken.length}.vsix`);
    await writeFile(file, body);
    const vsix = await read(file);
    const wrong = complaints(vsix);
    if (wrong.length > 0) return { status: 400, body: JSON.stringify({ error: wrong.join("\n") }) };
    taken.push(vsix);
    const { publisher, name, version } = vsix.manifest;
    const targetPlatform = vsix.xmlManifest.PackageManifest.Metadata[0]?.Identity[0].$.TargetPlatform ?? "universal";
    return { status: 201, body: JSON.stringify({ namespace: publisher, name, version, targetPlatform }) };
  };
}

/** @param {string} text */
const list = (text) => text.split(",");

/**
 * What Open VSX says against a package: `ExtensionValidator.java`, and that there is a license.
 *
 * @param {Vsix} vsix
 * @returns {string[]}
 */
function complaints({ manifest, xmlManifest }) {
  const [metadata] = xmlManifest.PackageManifest.Metadata;
  const told = /** @type {string[]} */ ([]);
  const check = (/** @type {string} */ name, /** @type {boolean} */ holds) => void (holds || told.push(name));
  const texts = {
    DisplayName: [metadata?.["DisplayName"]?.[0] ?? ""],
    Description: [metadata?.["Description"]?.[0]._ ?? ""],
    Categories: list(metadata?.["Categories"]?.[0] ?? ""),
    Tags: list(metadata?.["Tags"]?.[0] ?? ""),
    license: [manifest["license"] ?? ""],
    colour: [property(metadata, "Branding.Color") ?? ""],
    languages: list(property(metadata, "Code.LocalizedLanguages") ?? ""),
  };
  for (const [name, values] of Object.entries(texts)) {
    const longest = name === "Description" ? LONGEST.description : name === "colour" ? LONGEST.colour : LONGEST.text;
    check(
      name,
      values.every((text) => text.length <= longest && !/[\p{Cc}\p{Cf}\p{Cn}\p{Co}\u2028\u2029]/u.test(text)),
    );
  }
  for (const link of ["Links.Learn", "Links.Source", "Links.Support"]) check(link, isUrl(property(metadata, link)));
  check(
    "name",
    [manifest["publisher"], manifest["name"]].every((name) => /^[\w\-+$~]{1,255}$/.test(name)),
  );
  check("version", /^\d+\.\d+\.\d+$/.test(manifest["version"]));
  check("target", [undefined, ...TARGETS].includes(metadata?.["Identity"][0].$.TargetPlatform));
  check("license", Boolean(manifest["license"]));
  check("markdown", [undefined, "github", "standard"].includes(manifest["markdown"]));
  check("theme", [undefined, "dark", "light"].includes(property(metadata, "Branding.Theme")));
  check("qna", [undefined, "marketplace", "false"].includes(manifest["qna"]) || isUrl(manifest["qna"]));
  return told;
}

/** @param {Metadata | undefined} metadata @param {string} name the end of its id @returns {string | undefined} */
function property(metadata, name) {
  const all = /** @type {{$: {Id: string, Value: string}}[]} */ (metadata?.["Properties"]?.[0].Property ?? []);
  return all.find(({ $ }) => $.Id.endsWith(`.${name}`))?.$.Value;
}

/** @param {unknown} text */
function isUrl(text) {
  return typeof text === "string" && URL.canParse(text.replace(/^git\+/, "")) && new URL(text.replace(/^git\+/, "")).host !== "";
}

/** As vsce reads it. @param {string} vsix @returns {Promise<Vsix>} */
async function read(vsix) {
  const { vsce } = await packingTools();
  return createRequire(vsce)("./out/zip.js").readVSIXPackage(vsix);
}

/**
 * Runs `use` with the address of a server on the loopback.
 *
 * @param {(asked: Asked) => {status: number, body: string} | Promise<{status: number, body: string}>} answer
 * @param {(url: string) => Promise<void>} use
 */
async function served(answer, use) {
  const server = createServer((request, response) => {
    const answered = async () => {
      const { status, body } = await answer({ method: request.method, url: request.url, body: await buffer(request) });
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    };
    void answered();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  try {
    await use(`http://127.0.0.1:${address.port}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}
