/** Offers to fetch packages that the server's environment has not got: what they are for is said first, and how far it is meanwhile. */

import * as vscode from "vscode";
import { t } from "../l10n";
import { choose, tell } from "../notify";
import type { Extra } from "./extraPackages";

/** The environment that the extension keeps (`launch.ts`). */
export interface ExtraPackages {
  /** Whether the server runs in one. */
  readonly keepsEnvironment: boolean;
  lacks: (extra: Extra) => Promise<boolean>;
  /** @throws Error where they cannot be had. */
  add: (extra: Extra, signal: AbortSignal, report: (message: string) => void) => Promise<void>;
}

/** What the dialogue says. */
interface PackageOffer {
  extra: Extra;
  /** What lacks them. */
  lacking: string;
  /** What they are, how large, and where they come from and go. */
  about: string;
  /** Whether one may go on without them. */
  optional: boolean;
}

/** Gives whether to go on: they are there, or the user goes on without. */
export async function offerPackages({ extra, lacking, about, optional }: PackageOffer, packages: ExtraPackages): Promise<boolean> {
  const without = t("Go On Without");
  for (let problem: string | undefined; await packages.lacks(extra);) {
    const install = problem === undefined ? t("Install") : t("Try Again");
    const message = problem === undefined ? lacking : t("The packages could not be fetched");
    const choice = await choose(message, problem ?? about, install, ...(optional ? [without] : []));
    if (choice !== install) {
      return choice === without;
    }
    try {
      await fetchPackages(extra, packages);
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
  }
  return true;
}

/** Offers what sessions in PostgreSQL need, and has the server started again with it. */
export async function addTeamPackages(packages: ExtraPackages, restart: () => Promise<void>): Promise<void> {
  if (!packages.keepsEnvironment) {
    await tell(
      t('The server runs in a Python of your own. Install psycopg there: pip install "ullage[postgres]". Then restart the server.'),
    );
    return;
  }
  const offer: PackageOffer = {
    extra: "team",
    lacking: t("Sessions in PostgreSQL need a library that Ullage has not got yet"),
    about: t(
      "psycopg speaks to the database of your team. Ullage can fetch it (5 MB, from the package index that pip or uv uses here) into its own Python environment. Nothing else is changed. The server starts again then.",
    ),
    optional: false,
  };
  if (await offerPackages(offer, packages)) {
    await restart();
  }
}

/** With progress, and a button that ends it. */
async function fetchPackages(extra: Extra, packages: ExtraPackages): Promise<void> {
  const options = { location: vscode.ProgressLocation.Notification, title: t("Ullage: fetching packages"), cancellable: true };
  await vscode.window.withProgress(options, async (progress, token) => {
    const ending = new AbortController();
    token.onCancellationRequested(() => ending.abort(new Error(t("You ended it."))));
    await packages.add(extra, ending.signal, (message) => progress.report({ message }));
  });
}
