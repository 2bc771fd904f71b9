/** The settings of Ullage as they are in force, and no other than the user may set (`declaredSettings.ts`). */

import * as vscode from "vscode";
import { declaredIn, type DeclaredSetting, EXTENSION, type KnownSettings, sectionInForce, valueInForce } from "./declaredSettings";

let declared: ReadonlyMap<string, DeclaredSetting> | undefined;

/** A setting by its name without `ullage.`; what is usual where it is not of that kind. */
export function settingOf(name: string, usual: string): string;
export function settingOf(name: string, usual: boolean): boolean;
export function settingOf(name: string, usual: readonly string[]): readonly string[];
export function settingOf(name: string, usual: unknown): unknown {
  const value = valueInForce(name, ofManifest().get(name) ?? { scope: "machine" }, known());
  return typeof value === typeof usual && Array.isArray(value) === Array.isArray(usual) ? value : usual;
}

/** All of them, as nested objects. */
export function allSettings(): Record<string, unknown> {
  return sectionInForce(ofManifest(), known());
}

function ofManifest(): ReadonlyMap<string, DeclaredSetting> {
  declared ??= declaredIn(vscode.extensions.getExtension(EXTENSION)?.packageJSON);
  return declared;
}

function known(): KnownSettings {
  const configuration = vscode.workspace.getConfiguration();
  return { get: (name) => configuration.get(inFull(name)), inspect: (name) => configuration.inspect(inFull(name)) };
}

function inFull(name: string): string {
  return name === "" ? "ullage" : `ullage.${name}`;
}
