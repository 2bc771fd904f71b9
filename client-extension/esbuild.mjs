/**
 * Bundles the extension: `dist/extension.js` for the extension host and `dist/webview.js` with `dist/webview-style.css` for the panel.
 *
 * `--production` minifies and leaves source maps out; `--watch` builds again on every change.
 */
import { build, context } from "esbuild";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const production = process.argv.includes("--production");
const watch = process.argv.includes("--watch");

/** @type {import("esbuild").BuildOptions} */
const common = {
  absWorkingDir: dirname(fileURLToPath(import.meta.url)),
  bundle: true,
  minify: production,
  sourcemap: production ? false : "linked",
  legalComments: "none",
  logLevel: "warning",
};

/** @type {import("esbuild").BuildOptions[]} */
const bundles = [
  {
    ...common,
    entryPoints: { extension: "src/extension.ts" },
    outdir: "dist",
    platform: "node",
    format: "cjs",
    target: "node22",
    external: ["vscode"],
  },
  {
    ...common,
    entryPoints: { webview: "webview/main.ts", "webview-style": "webview/css/main.css" },
    outdir: "dist",
    platform: "browser",
    format: "iife",
    target: "es2022",
    loader: { ".ttf": "file" },
    assetNames: "[name]",
  },
];

if (watch) {
  for (const bundle of bundles) {
    await (await context(bundle)).watch();
  }
} else {
  await Promise.all(bundles.map((bundle) => build(bundle)));
}
