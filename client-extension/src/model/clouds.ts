/**
 * Connecting Claude in a cloud: region and project are asked for and tried at once. Credentials are neither asked for nor kept: they are where the
 * cloud's own tools keep them, and the server says which are missing.
 */

import * as vscode from "vscode";
import { t } from "../l10n";
import { askFor } from "../notify";
import { type ExtraPackages, offerPackages } from "../server/offerPackages";
import { Declined } from "../session/ending";
import { settingOf } from "../settings";
import { type Cloud, CLOUDS, type Found, partProblem } from "./choices";

/** What the dialogue does with what was entered. */
export interface Steps {
  /**
   * Makes a change while no server runs, and waits until one runs again.
   *
   * @param isBack whether it takes back what was tried. @throws Error where none runs. @throws Declined where the user wants it to go on.
   */
  restarted: (change: () => Promise<void>, isBack: boolean) => Promise<void>;
  /** @throws Error of the server. */
  found: () => Promise<Found | undefined>;
  choose: (found: Found) => Promise<void>;
  packages: ExtraPackages;
}

/** Asks for region and project until the cloud answers or the user leaves; then the settings of before are in force again. */
export async function setUpCloud(cloud: Cloud, steps: Steps): Promise<void> {
  if (!(await offerOf(cloud, steps.packages))) {
    return;
  }
  const before = settingsOf(cloud);
  const restore = () => steps.restarted(() => write(before), true);
  let entered: Map<string, string | undefined> = before;
  for (let problem: string | undefined; ;) {
    const answers = await ask(cloud, entered, problem);
    if (answers === undefined) {
      if (problem !== undefined) {
        await restore();
      }
      return;
    }
    entered = answers;
    try {
      await steps.restarted(() => write(answers), false);
      const found = await steps.found();
      await (found === undefined ? restore() : steps.choose(found));
      return;
    } catch (error) {
      if (error instanceof Declined) {
        throw error;
      }
      problem = error instanceof Error ? error.message : String(error);
    }
  }
}

/** Who wants no library that finds credentials may have a key of Bedrock's own. */
function offerOf(cloud: Cloud, packages: ExtraPackages): Promise<boolean> {
  const lacking = t("{cloud} needs packages that Ullage has not got yet", { cloud: CLOUDS[cloud].title });
  return offerPackages({ extra: "clouds", lacking, about: CLOUDS[cloud].packages, optional: cloud === "bedrock" }, packages);
}

/** What was entered, by setting; undefined if the user leaves. What is wrong stands in the first box. */
async function ask(cloud: Cloud, known: Map<string, string | undefined>, problem?: string): Promise<Map<string, string> | undefined> {
  const answers = new Map([["model.provider", cloud as string]]);
  for (const [index, part] of CLOUDS[cloud].parts.entries()) {
    const answer = await askFor({
      title: CLOUDS[cloud].title,
      prompt: (index === 0 ? problem : undefined) ?? part.prompt,
      placeHolder: part.example,
      value: known.get(part.setting) ?? "",
      ignoreFocusOut: true,
      validateInput: partProblem,
    });
    if (answer === undefined) {
      return undefined;
    }
    answers.set(part.setting, answer.trim());
  }
  return answers;
}

/** As the user has set them; undefined if a default holds. */
function settingsOf(cloud: Cloud): Map<string, string | undefined> {
  const settings = vscode.workspace.getConfiguration("ullage");
  const names = ["model.provider", ...CLOUDS[cloud].parts.map(({ setting }) => setting)];
  return new Map(names.map((name) => [name, settings.inspect<string>(name)?.globalValue]));
}

/** @throws Error where another provider is set for more than the user, which only they can change. */
async function write(values: Map<string, string | undefined>): Promise<void> {
  for (const [name, value] of values) {
    const settings = vscode.workspace.getConfiguration("ullage");
    if (settings.inspect<string>(name)?.globalValue !== (value || undefined)) {
      await settings.update(name, value || undefined, vscode.ConfigurationTarget.Global);
    }
  }
  const wanted = values.get("model.provider");
  const provider = settingOf("model.provider", "");
  if (wanted !== undefined && provider !== wanted) {
    throw new Error(
      t('The setting "Ullage › Model: Provider" is "{provider}" for this workspace or machine. Set it to "{wanted}" there.', {
        provider,
        wanted,
      }),
    );
  }
}
