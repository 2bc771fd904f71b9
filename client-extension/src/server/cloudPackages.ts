/**
 * The packages that the clouds need for their own credentials (boto3, google-auth), in the environment that the extension keeps. They are not among
 * the wheels inside: few need them. So they come from the package index, by the hashes of their lock, once the user has agreed. No VS Code in here.
 */

import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { t } from "../l10n";
import { type ReportProgress, step, type Workshop } from "./environmentMaking";
import { cannotInstall, EnvironmentError, withoutPip } from "./environmentTrouble";
import { interpreterIn } from "./pythonPlaces";

/** Lies in an environment that has them all; it holds the hash of the lock that they came by. */
const MARK = "clouds";

const LOCK = "requirements-clouds.lock";

/** Whether the environment in `folder` has them as the lock of this extension wants them. */
export async function hasCloudPackages(folder: string, packageFolder: string): Promise<boolean> {
  const [mark, stamp] = await Promise.all([readFile(join(folder, MARK), "utf8").catch(() => undefined), stampOf(packageFolder)]);
  return mark !== undefined && mark === stamp;
}

/**
 * Puts them into the environment in `folder`, in which a server may run. What is there already stays.
 *
 * @throws EnvironmentError where they cannot be had; the server runs as before then.
 */
export async function installCloudPackages(shop: Workshop, folder: string, report: ReportProgress): Promise<void> {
  const stamp = await stampOf(shop.cwd);
  if (stamp === undefined) {
    throw new EnvironmentError(t("This build of the extension does not say which packages the clouds need. Install the extension again."));
  }
  const interpreter = interpreterIn(folder, shop.platform);
  const flags = ["install", "--no-deps", "--require-hashes", "--requirement", join(shop.cwd, LOCK)];
  const onLine = (line: string) => {
    const name = /^(?:Collecting|Downloading) ([\w.-]+)/.exec(line)?.[1];
    if (name !== undefined) {
      report(t("Installing {name}…", { name }));
    }
  };
  report(t("Installing the packages of the clouds…"));
  if (shop.uv !== undefined) {
    await step(shop, shop.uv, ["pip", flags[0] ?? "", "--python", interpreter, ...flags.slice(1)], cannotInstall);
  } else {
    // The environment was made without pip where the wheels inside did.
    await step(shop, interpreter, ["-I", "-m", "ensurepip"], withoutPip);
    await step(shop, interpreter, ["-I", "-u", "-m", "pip", "--disable-pip-version-check", "--no-input", ...flags], cannotInstall, onLine);
  }
  await step(shop, interpreter, ["-I", "-c", "import boto3, google.auth.transport.requests"], cannotInstall); // oxlint-disable-line ullage/untranslated -- a program
  await writeFile(join(folder, MARK), stamp);
}

async function stampOf(packageFolder: string): Promise<string | undefined> {
  const lock = await readFile(join(packageFolder, LOCK)).catch(() => undefined);
  return lock === undefined ? undefined : createHash("sha256").update(lock).digest("hex");
}
