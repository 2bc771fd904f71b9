/** The strict fake of the model's API, as a process beside VS Code. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { ROOT, VENV_PYTHON } from "../../../scripts/lib/paths.mjs";

/**
 * @typedef {object} FakeApi
 * @property {string} url what `ullage.model.baseUrl` is set to
 * @property {(path: string, body?: unknown) => Promise<unknown>} control calls a control endpoint: GET without a body, POST with one
 * @property {() => Promise<void>} stop
 */

/** Start it and wait until it serves: the first line that it prints is a JSON object with its port. @returns {Promise<FakeApi>} */
export async function startFakeApi() {
  const child = spawn(VENV_PYTHON, ["-m", "tests.fake_api"], { cwd: ROOT, stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "close");
  const line = await Promise.race([once(createInterface(child.stdout), "line"), exited.then(() => undefined)]);
  if (line === undefined) throw new Error("The fake API ended before it served");
  const { port } = JSON.parse(String(line[0]));
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    control: (path, body) => control(`${url}/__fake__/${path}`, body),
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/** @param {string} url @param {unknown} body */
async function control(url, body) {
  const request = body === undefined ? {} : { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await fetch(url, request);
  const text = await response.text();
  if (!response.ok) throw new Error(`The fake API answered ${response.status} to ${url}: ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}
