/** The settings that say where a model answers, and which one: read, and changed for the user. */

import * as vscode from "vscode";
import { t } from "../l10n";
import { settingOf } from "../settings";
import { OPENAI, type ModelPlace } from "./choices";
import { ANTHROPIC } from "./storedKey";

/** With OpenAI's address written out where none is set: the stored key goes to addresses of the settings alone, or to Anthropic. */
export function placeInForce(): ModelPlace {
  const provider = settingOf("model.provider", "") === "openai" ? "openai" : "anthropic";
  return { address: settingOf("model.baseUrl", "") || (provider === "openai" ? OPENAI : ""), provider };
}

/** Where a key of that place goes: to an address of the environment where none is set. */
export function addressAsked({ address, provider }: ModelPlace): string {
  return address || (provider === "anthropic" ? (process.env.ANTHROPIC_BASE_URL ?? "").trim() : "") || ANTHROPIC;
}

/** @throws Error where the demo is set for more than the user, which only they can change. */
export async function setEndpoint({ address, provider }: ModelPlace): Promise<void> {
  const settings = vscode.workspace.getConfiguration("ullage.model");
  const { Global } = vscode.ConfigurationTarget;
  const known = settingOf("model.provider", "auto");
  if (provider === "openai" ? known !== "openai" : known !== "auto" && known !== "anthropic") {
    await settings.update("provider", provider === "openai" ? "openai" : undefined, Global);
  }
  if (known === "editor") {
    await settings.update("name", undefined, Global); // what VS Code calls a model is nothing to a server
  }
  if (settingOf("model.provider", "") === "practice") {
    throw new Error(t('The setting "Ullage › Model: Provider" is "practice" for this workspace or machine. Set it to "auto" there.'));
  }
  if (settingOf("model.baseUrl", "") !== address) {
    await settings.update("baseUrl", address === "" ? undefined : address, Global);
  }
}

/** New sessions ask that model of VS Code, too. @throws Error where another provider is set for more than the user, which only they can change. */
export async function setEditorModel(model: string): Promise<void> {
  const settings = vscode.workspace.getConfiguration("ullage.model");
  const { Global } = vscode.ConfigurationTarget;
  await settings.update("provider", "editor", Global);
  await settings.update("name", model, Global);
  const provider = settingOf("model.provider", "");
  if (provider !== "editor") {
    throw new Error(
      t('The setting "Ullage › Model: Provider" is "{provider}" for this workspace or machine. Set it to "editor" there.', { provider }),
    );
  }
}
