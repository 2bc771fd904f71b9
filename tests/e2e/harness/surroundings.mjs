/**
 * What every VS Code of these tests finds around it: a home of nobody, credentials of clouds that are none, and a web of few pages. Nothing of
 * whoever runs the tests counts.
 *
 * It is the same for all scenarios, so that they can share one VS Code. Each puts into it what it needs.
 */

import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = await mkdtemp(join(tmpdir(), "ullage-around-"));

/** The home folder, in which other programs have kept nothing yet. */
export const HOME = join(folder, "home");

/** Where the tools of clouds would keep credentials: `credentials` for AWS, `account.json` for Google. */
export const ACCOUNTS = join(folder, "accounts");

await Promise.all([mkdir(HOME), mkdir(ACCOUNTS)]);

/** Pages by their addresses. Their hosts are nowhere: Ullage asks the proxy of its environment for them. @type {Map<string, string>} */
export const PAGES = new Map();

/** Addresses that the proxy was asked for. @type {string[]} */
export const FETCHED = [];

const proxy = createServer((request, response) => {
  FETCHED.push(String(request.url));
  const page = PAGES.get(String(request.url));
  response.writeHead(page === undefined ? 404 : 200, { "content-type": "text/html" }).end(page);
});
proxy.listen(0, "127.0.0.1");
await once(proxy, "listening");
const at = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (proxy.address()).port}`;

/** Variables of the environment. @type {NodeJS.ProcessEnv} */
export const SURROUNDINGS = {
  HOME,
  CLAUDE_CONFIG_DIR: join(HOME, ".claude"),
  CODEX_HOME: join(HOME, ".codex"),
  XDG_DATA_HOME: HOME,
  XDG_CONFIG_HOME: HOME,
  AWS_SHARED_CREDENTIALS_FILE: join(ACCOUNTS, "credentials"),
  AWS_CONFIG_FILE: join(ACCOUNTS, "none"),
  AWS_EC2_METADATA_DISABLED: "true",
  AWS_REGION: "",
  AWS_DEFAULT_REGION: "",
  AWS_PROFILE: "default",
  AWS_BEARER_TOKEN_BEDROCK: "",
  GOOGLE_APPLICATION_CREDENTIALS: join(ACCOUNTS, "account.json"),
  GOOGLE_CLOUD_PROJECT: "",
  CLOUD_ML_REGION: "",
  NO_GCE_CHECK: "true",
  http_proxy: at,
  HTTP_PROXY: at,
  no_proxy: "127.0.0.1,localhost",
  NO_PROXY: "127.0.0.1,localhost",
};

/** Ends it and takes its folders away. */
export async function leaveSurroundings() {
  proxy.close();
  proxy.closeAllConnections();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
