/**
 * Packages that few need, in the environment that the extension keeps: those of the clouds for their own credentials (boto3, google-auth), and psycopg
 * for sessions in a team's PostgreSQL. They are not among the wheels inside. So they come from the package index, by the hashes of their lock, once
 * the user has agreed. No VS Code in here.
 */

import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { t } from "../l10n";
import { type ReportProgress, step, type Workshop } from "./environmentMaking";
import { cannotInstall, EnvironmentError, withoutPip, withoutWheel } from "./environmentTrouble";
import { interpreterIn } from "./pythonPlaces";

/** What they are for. A file of that name lies in an environment that has them all; it holds the hash of the lock that they came by. */
export type Extra = "clouds" | "team";

export const EXTRAS: readonly Extra[] = ["clouds", "team"];

interface Packages {
  lock: string;
  /** What is imported to see whether they are whole. */
  imports: string;
  installing: string;
  explain: (output: string) => EnvironmentError;
}

const PACKAGES: Record<Extra, Packages> = {
  clouds: {
    lock: "requirements-clouds.lock",
    imports: "boto3, google.auth.transport.requests", // oxlint-disable-line ullage/untranslated -- names of packages
    installing: t("Installing the packages of the clouds…"),
    explain: cannotInstall,
  },
  team: {
    lock: "requirements-team.lock",
    imports: "psycopg, psycopg_pool", // oxlint-disable-line ullage/untranslated -- packages
    installing: t("Installing the library for PostgreSQL…"),
    explain: withoutWheel,
  },
};

/** Whether the environment in `folder` has them as the lock of this extension wants them. */
export async function hasExtra(extra: Extra, folder: string, packageFolder: string): Promise<boolean> {
  const [mark, stamp] = await Promise.all([readFile(join(folder, extra), "utf8").catch(() => undefined), stampOf(extra, packageFolder)]);
  return mark !== undefined && mark === stamp;
}

/**
 * Puts them into the environment in `folder`, in which a server may run. What is there already stays.
 *
 * @throws EnvironmentError where they cannot be had; the server runs as before then.
 */
export async function installExtra(extra: Extra, shop: Workshop, folder: string, report: ReportProgress): Promise<void> {
  const { lock, imports, installing, explain } = PACKAGES[extra];
  const stamp = await stampOf(extra, shop.cwd);
  if (stamp === undefined) {
    throw new EnvironmentError(t("This build of the extension does not say which packages are needed. Install the extension again."));
  }
  const interpreter = interpreterIn(folder, shop.platform);
  const flags = ["install", "--no-deps", "--require-hashes", "--requirement", join(shop.cwd, lock)];
  const onLine = (line: string) => {
    const name = /^(?:Collecting|Downloading) ([\w.-]+)/.exec(line)?.[1];
    if (name !== undefined) {
      report(t("Installing {name}…", { name }));
    }
  };
  report(installing);
  if (shop.uv !== undefined) {
    await step(shop, shop.uv, ["pip", flags[0] ?? "", "--python", interpreter, ...flags.slice(1)], explain);
  } else {
    await addPip(shop, interpreter);
    await step(shop, interpreter, ["-I", "-u", "-m", "pip", "--disable-pip-version-check", "--no-input", ...flags], explain, onLine);
  }
  await step(shop, interpreter, ["-I", "-c", `import ${imports}`], cannotInstall); // oxlint-disable-line ullage/untranslated -- a program
  await writeFile(join(folder, extra), stamp);
}

/** Where the wheels inside did, the environment was made without pip. Once it is there, it need not be put there again: that takes two seconds. */
async function addPip(shop: Workshop, interpreter: string): Promise<void> {
  const ask = ["-I", "-c", "from importlib.metadata import version; version('pip')"]; // oxlint-disable-line ullage/untranslated -- a program
  const { code } = await shop.run(interpreter, ask, { cwd: shop.cwd, signal: shop.signal });
  shop.signal?.throwIfAborted();
  if (code !== 0) {
    await step(shop, interpreter, ["-I", "-m", "ensurepip"], withoutPip);
  }
}

async function stampOf(extra: Extra, packageFolder: string): Promise<string | undefined> {
  const lock = await readFile(join(packageFolder, PACKAGES[extra].lock)).catch(() => undefined);
  return lock === undefined ? undefined : createHash("sha256").update(lock).digest("hex");
}
