/** Serves the built panel as VS Code shows it: in a frame beside an editor, here a text box, on the same main thread. */

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { THEMES, styleOf } from "../../tests/extension/preview/themes.mjs";

const TYPES = { ".js": "text/javascript", ".css": "text/css", ".ttf": "font/ttf" };

/** What runs in the page: how it is fed and what is read off it. */
const PROBE = fileURLToPath(new URL("./probe.js", import.meta.url));

/**
 * @typedef {object} Pages
 * @property {(build: string) => string} urlOf where the panel of a build stands beside an editor
 * @property {() => void} stop
 */

/**
 * @param {Record<string, string>} builds folder of each build, by name
 * @returns {Promise<Pages>}
 */
export async function servePages(builds) {
  const server = createServer((request, response) => {
    const [, build = "", name = ""] = new URL(request.url ?? "/", "http://localhost").pathname.split("/");
    const dist = builds[build];
    const send = (/** @type {string | Uint8Array} */ body, type = "text/html; charset=utf-8") =>
      response.writeHead(200, { "content-type": type, "cache-control": "no-store" }).end(body);
    if (dist === undefined) response.writeHead(404).end();
    else if (name === "") send(OUTSIDE);
    else if (name === "panel") send(INSIDE);
    else
      readFile(name === "probe.js" ? PROBE : join(dist, name)).then(
        (body) => send(body, TYPES[/** @type {keyof typeof TYPES} */ (extname(name))]),
        () => response.writeHead(404).end(),
      );
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", () => done(undefined)));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return { urlOf: (build) => `http://127.0.0.1:${port}/${build}/`, stop: () => void server.close() };
}

const OUTSIDE = `<!DOCTYPE html>
<html lang="en">
  <head><meta charset="UTF-8"><title>Editor</title></head>
  <body style="margin: 0; display: flex; height: 100vh">
    <textarea style="flex: 1" aria-label="Editor"></textarea>
    <script src="probe.js"></script>
    <iframe src="panel" style="width: 400px; border: 0" title="Panel"></iframe>
  </body>
</html>`;

const INSIDE = `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="UTF-8">
    <link rel="stylesheet" href="webview-style.css">
    <style>${styleOf("dark")}</style>
    <script>
      window.acquireVsCodeApi = () => ({
        postMessage: (message) => parent.probe.fromPanel(message),
        getState: () => undefined,
        setState: () => undefined,
      });
    </script>
  </head>
  <body class="${THEMES.dark.bodyClass}">
    <script src="webview.js"></script>
  </body>
</html>`;
