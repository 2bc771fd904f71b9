/** Choosing the model of a session: what its endpoint offers, with window and price; any other name can be typed. */

import * as vscode from "vscode";
import { t } from "../l10n";
import { effortChangeInWords, effortChoices, effortLabel, offerInWords } from "./choices";
import { askFor, tell, tellError } from "../notify";
import type { OfferedModel } from "../protocol";
import type { ServerConnection } from "../server/connection";
import type { ActiveSession } from "../session/activeSession";
import { settingOf } from "../settings";
import { labelText } from "../visible";

const TITLE = t("Ullage: model of this session");

/** Offered where the endpoint cannot be asked. Models of October 2026. */
const KNOWN_MODELS = ["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-fable-5-2"];

/** What an endpoint offers. `problem` says why these are only the usual models. */
interface ModelOffer {
  models: readonly OfferedModel[];
  problem?: string;
}

interface ModelPick extends vscode.QuickPickItem {
  name?: string;
  command?: string;
}

/** Asks the endpoint what it offers, and lets the user choose. Where it does not tell, the placeholder says why. */
export async function pickModel(connection: ServerConnection, session: ActiveSession): Promise<void> {
  const known = settingOf("model.provider", "") === "editor" ? [] : KNOWN_MODELS;
  const asked = connection.request("ullage/model/list", {}).then(
    ({ models }): ModelOffer => ({ models }),
    (error: Error): ModelOffer => ({ models: known.map((name) => ({ name, displayName: name })), problem: error.message }),
  );
  await chooseModel(session, asked);
}

/** Opens the picker where the endpoint does not know the model: once for each time that it says so, and not for what was said before. */
export function bindUnknownModel(connection: ServerConnection, session: ActiveSession): vscode.Disposable {
  const told = new Set<string>();
  return session.onUpdate(({ update }) => {
    if (update.kind === "item" && update.item.kind === "notice" && update.item.action === "choose_model" && !told.has(update.item.id)) {
      told.add(update.item.id);
      pickModel(connection, session).catch((error: Error) => tellError(error.message));
    }
  });
}

/**
 * Lets the user choose among what is offered; the list is there at once, and filled when the offer has come.
 *
 * @param take what is done with the model that was chosen.
 */
export async function chooseModel(
  session: ActiveSession,
  offer: ModelOffer | Promise<ModelOffer>,
  take: (model: string) => Promise<void> = async (model) => void (await session.request("ullage/session/setModel", { model })),
): Promise<void> {
  const picks = Promise.resolve(offer).then((known) => picksOf(session, known));
  const chosen = await vscode.window.showQuickPick(picks, {
    title: TITLE,
    placeHolder: t("Which model answers from now on"),
    matchOnDescription: true,
  });
  if (chosen === undefined) {
    return;
  }
  if (chosen.command !== undefined) {
    await vscode.commands.executeCommand(chosen.command);
    return;
  }
  const model = chosen.name ?? (await askFor({ title: TITLE, prompt: t("The model's name, as its server knows it") }));
  if (model?.trim()) {
    await take(model.trim());
  }
}

/** The model in use first; last where the endpoint does not list it: it may be that of another endpoint. */
function picksOf(session: ActiveSession, { models, problem }: ModelOffer): ModelPick[] {
  const current = session.current?.model.name;
  const known = models.some(({ name }) => name === current) || current === undefined ? [] : [{ name: current, displayName: current }];
  const inOrder = [...models.toSorted((a, b) => Number(b.name === current) - Number(a.name === current)), ...known];
  const picks: ModelPick[] = inOrder.map((model) => ({
    label: labelText(model.displayName),
    description: [model.name === current ? t("current") : "", model.displayName === model.name ? "" : labelText(model.name)]
      .filter(Boolean)
      .join(" · "),
    detail: offerInWords(model),
    name: model.name,
  }));
  const effort = session.current === undefined ? "" : effortLabel(session.current.model);
  const others: ModelPick[] = [
    { label: "", kind: vscode.QuickPickItemKind.Separator },
    ...(effort === "" ? [] : [{ label: `$(dashboard) ${t("Effort…")}`, description: effort, command: "ullage.selectEffort" }]),
    { label: `$(edit) ${t("Another model by its name…")}` },
    { label: `$(plug) ${t("Connect another server or key…")}`, command: "ullage.setUpModel" },
  ];
  // A heading, so that it is read before one of the usual names is taken for one that is offered.
  const why: ModelPick[] = problem === undefined ? [] : [{ label: labelText(problem), kind: vscode.QuickPickItemKind.Separator }];
  return [...why, ...picks, ...others];
}

/** Lets the user choose how much work the model of the session puts into its answers. */
export async function pickEffort(session: ActiveSession): Promise<void> {
  const model = session.current?.model;
  const choices = model === undefined ? [] : effortChoices(model);
  if (choices.length === 0) {
    void tell(
      model === undefined
        ? t("The model has no choice of effort")
        : t("{model} has no choice of effort", { model: labelText(model.displayName) }),
    );
    return;
  }
  const picks = choices.map(({ effort, label, detail, isCurrent }) => ({
    label,
    description: isCurrent ? t("current") : "",
    detail,
    effort,
  }));
  const chosen = await vscode.window.showQuickPick(picks, {
    title: t("Ullage: effort of this session"),
    placeHolder: effortChangeInWords(session.current?.gauge),
  });
  if (chosen !== undefined) {
    await session.request("ullage/session/setEffort", { effort: chosen.effort });
  }
}
