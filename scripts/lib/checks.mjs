/** What `npm run check` runs, and what `npm run fix` mends of it. */

import { join } from "node:path";
import { quickNode } from "./node24.mjs";
import { ROOT, VENV_PYTHON } from "./paths.mjs";

/** @typedef {{title: string, command: string[]}} Check */

/** Programs of node_modules are started through Node: that needs no shell on any system. @param {string} path @returns {string[]} */
const tool = (path) => [process.execPath, join(ROOT, "node_modules", path)];

/**
 * A second opinion on the types of Python, for `npm run test:deep`: it finds some faults that the check of every day does not
 * (docs/decisions/0029). It takes about 100 CPU seconds, and more on an older Node: most of that is garbage of short life, for which there is
 * more room here. With a thread for each of two cores it takes more in all, since each infers much of what the other does.
 */
export const PYRIGHT = [quickNode(), "--max-semi-space-size=64", join(ROOT, "node_modules", "pyright", "index.js")];

const RUFF = [VENV_PYTHON, "-m", "ruff"];
/**
 * Its style is Prettier's, whose ignored files it reads; all files of JavaScript, CSS, JSON and YAML here came out the same when it took its
 * place. It takes half a second of the processor where Prettier took 20, and 6 with its cache.
 */
const OXFMT = tool("oxfmt/bin/oxfmt");
const OXLINT = [...tool("oxlint/bin/oxlint"), "--type-aware", "--deny-warnings"];
const TSC = tool("typescript/bin/tsc");

/**
 * actionlint 1.7.7 as WebAssembly: the one package that brings it for every system and downloads nothing. Node's better compiler would take 3 s
 * for it, its quick one takes half a second.
 */
const ACTIONLINT = [
  process.execPath,
  "--liftoff-only",
  join(ROOT, "node_modules", "@tktco", "node-actionlint", "bin", "node-actionlint.js"),
];

/** Every check, the longest first: they run side by side. None of them changes a file. @type {Check[]} */
export const CHECKS = [
  { title: "Python types", command: [VENV_PYTHON, "-m", "pyrefly", "check", "--output-format=min-text"] },
  { title: "Python format", command: [...RUFF, "format", "--check"] },
  { title: "Python lint", command: [...RUFF, "check"] },
  { title: "JavaScript format", command: [...OXFMT, "--check"] },
  { title: "JavaScript lint", command: OXLINT },
  { title: "Texts in all languages", command: [process.execPath, join(ROOT, "scripts", "l10n.mjs"), "--check"] },
  { title: "Types of the extension", command: [...TSC, "--project", "client-extension"] },
  { title: "Types of the panel", command: [...TSC, "--project", "client-extension/webview"] },
  { title: "Types of the extension's tests", command: [...TSC, "--project", "tests/extension"] },
  { title: "Types of scripts and end-to-end tests", command: [...TSC, "--project", "."] },
  { title: "Workflows", command: [...ACTIONLINT, ".github/workflows/*.yml"] },
];

/** What can be mended by program. @type {Check[]} */
export const FIXES = [
  { title: "Python lint", command: [...RUFF, "check", "--fix"] },
  { title: "Python format", command: [...RUFF, "format"] },
  { title: "JavaScript lint", command: [...OXLINT, "--fix"] },
  { title: "JavaScript format", command: OXFMT },
];
