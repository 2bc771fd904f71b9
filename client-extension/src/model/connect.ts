/**
 * Connecting a model: a key or an address is asked for and tried at once, and what the server offers can be chosen. VS Code's own language models
 * need neither. The key: `apiKey.ts`.
 */

import * as vscode from "vscode";
import { t } from "../l10n";
import type { ApiKey } from "./apiKey";
import {
  addressProblem,
  asksForKey,
  changeEndpoint,
  CLOUDS,
  isCloud,
  findModels,
  type Found,
  keyProblem,
  type ModelPlace,
  refusalOfKey,
  headingOfServers,
  serversToLookFor,
} from "./choices";
import { setUpCloud, type Steps } from "./clouds";
import { addressAsked, placeInForce, setEditorModel, setEndpoint } from "./modelSettings";
import { chooseModel } from "./picker";
import { ANTHROPIC, toStore } from "./storedKey";
import { askFor, confirm, tellError } from "../notify";
import type { OfferedModel } from "../protocol";
import { reasonOf } from "../server/answers";
import type { ServerConnection } from "../server/connection";
import type { ExtraPackages } from "../server/offerPackages";
import type { ActiveSession } from "../session/activeSession";
import { Declined } from "../session/ending";
import type { BackgroundCommands } from "../session/running";
import { labelText } from "../visible";

const TITLE = t("Ullage: connect a model");

const FORGOTTEN = t(
  "That server has answered without one. The stored key is forgotten, so that it is not sent there. Enter it again to go back.",
);
const INHERITED = t("That server has answered without a key. The one in the environment goes to every address that is set.");

const STAYS = t("What was tried last is still set. The commands in the background go on.");

/** Milliseconds that the server may take to start again with another key. */
const RESTART_LIMIT = 30_000;

interface SetUpParts {
  connection: ServerConnection;
  session: ActiveSession;
  apiKey: ApiKey;
  launch: ExtraPackages;
  background: BackgroundCommands;
}

interface Way extends vscode.QuickPickItem {
  go?: () => Promise<void>;
}

/**
 * Opens the dialogue, and ends with it. Only now servers are looked for, where Ullage runs.
 *
 * @throws Declined where the server would have to start again, and the user wants what runs in the background to go on.
 */
export async function setUpModel(parts: SetUpParts): Promise<void> {
  const over = Promise.withResolvers<Way | undefined>();
  const pick = vscode.window.createQuickPick<Way>();
  const own: Way[] = [
    { label: `$(key) ${t("Anthropic, with an API key")}`, go: () => setUpKey(parts, { address: "", provider: "anthropic" }) },
    {
      label: `$(vscode) ${t("VS Code's language models")}`,
      detail: t("GitHub Copilot, and what other extensions bring. No key is needed"),
      go: () => setUpEditorModels(parts),
    },
    {
      label: `$(globe) ${t("An OpenAI-compatible server, by its address")}`,
      detail: t("OpenAI, OpenRouter, Azure, vLLM, Ollama, LM Studio and others"),
      go: () => setUpAddress(parts, "openai"),
    },
    {
      label: `$(server) ${t("A server, by its address")}`,
      detail: t("Any that speaks the Anthropic Messages API"),
      go: () => setUpAddress(parts, "anthropic"),
    },
    ...(["bedrock", "vertex"] as const).map((cloud) => ({
      label: `$(cloud) ${CLOUDS[cloud].title}`,
      detail: CLOUDS[cloud].detail,
      go: () => setUpCloud(cloud, stepsOf(parts)),
    })),
  ];
  const found: Way[] = [];
  const draw = () => {
    const heading = headingOfServers(pick.busy, found.length, vscode.env.remoteName !== undefined);
    pick.items = [...own, { label: heading, kind: vscode.QuickPickItemKind.Separator }, ...found];
  };
  pick.title = TITLE;
  pick.placeholder = t("Where should answers come from?");
  pick.busy = true;
  pick.onDidAccept(() => {
    over.resolve(pick.selectedItems[0]);
    pick.hide();
  });
  pick.onDidHide(() => {
    over.resolve(undefined);
    pick.dispose();
  });
  draw();
  pick.show();
  const looking = serversToLookFor(vscode.env.remoteName).map(async ({ name, address }) => {
    const models = await offeredAt(parts, address).catch(() => []);
    if (models.length > 0) {
      const detail = models.map((model) => model.displayName).join(", ");
      found.push({
        label: `$(vm) ${name}`,
        description: address,
        detail: labelText(detail),
        go: () => use(parts, { address, provider: "anthropic" }, { models }),
      });
      draw();
    }
  });
  void Promise.all(looking).finally(() => {
    pick.busy = false;
    draw();
  });
  await (await over.promise)?.go?.();
}

/**
 * Asks for a key until one is accepted or the user leaves; then key and address of before are in force again.
 *
 * @param place that it is for; left out, it is the one of the settings.
 * @throws Declined as `setUpModel`.
 */
export async function setUpKey(parts: SetUpParts, place?: ModelPlace): Promise<void> {
  const before = { stored: await parts.apiKey.read(), place: placeInForce() };
  const settings = vscode.workspace.getConfiguration("ullage.model");
  const providerBefore = settings.inspect<string>("provider")?.globalValue;
  const restore = async () => {
    await changed(parts, before.place, before.stored, STAYS);
    if (isCloud(providerBefore)) {
      await settings.update("provider", providerBefore, vscode.ConfigurationTarget.Global);
    }
  };
  const { address, provider } = place ?? before.place;
  const isAnthropics = provider === "anthropic" && addressAsked({ address, provider }) === ANTHROPIC;
  const prompt =
    place !== undefined && address !== ""
      ? t("{address} asks for a key", { address })
      : t("Kept in the system's secret storage, and sent to {address} alone", { address: addressAsked({ address, provider }) });
  for (let problem: string | undefined, typed = ""; ;) {
    const key = await parts.apiKey.input(
      isAnthropics ? keyProblem : () => undefined,
      problem,
      prompt,
      isAnthropics ? "sk-ant-…" : undefined, // oxlint-disable-line ullage/untranslated -- how a key begins
      typed,
    );
    if (key === undefined) {
      if (problem !== undefined) {
        await restore();
      }
      return;
    }
    let found: Found | undefined;
    try {
      found = await tried(parts, key, { address, provider });
    } catch (error) {
      if (error instanceof Declined) {
        throw error;
      }
      problem = refusalOfKey(messageOf(error));
      typed = reasonOf(error) === "key_refused" ? "" : key;
      continue;
    }
    await (found === undefined ? restore() : choose(parts, found));
    return;
  }
}

/** What is found at the endpoint with that key. @throws Error where it accepts none, or does not answer. */
async function tried(parts: SetUpParts, key: string, place: ModelPlace): Promise<Found | undefined> {
  await changed(parts, place, toStore(key, addressAsked(place)));
  return foundAt(parts);
}

/** Asks for an address until a server answers there or the user leaves. */
async function setUpAddress(parts: SetUpParts, provider: ModelPlace["provider"]): Promise<void> {
  let typed = "";
  const [page, example] =
    provider === "openai" ? ["/chat/completions", "https://openrouter.ai/api/v1"] : ["/v1/messages", "http://127.0.0.1:8080"];
  for (let problem: string | undefined; ;) {
    const failed = typed;
    const answer = await askFor({
      title: TITLE,
      prompt: problem ?? t("Address of the server, without {page}", { page }),
      placeHolder: example,
      value: typed,
      ignoreFocusOut: true,
      validateInput: (value) => (problem !== undefined && value === failed ? problem : addressProblem(value)),
    });
    if (answer === undefined) {
      return;
    }
    typed = answer.trim();
    const place: ModelPlace = { address: typed, provider };
    if (asksForKey(place)) {
      return setUpKey(parts, place);
    }
    try {
      const found = await foundAt(parts, place);
      return found === undefined ? undefined : await use(parts, place, found);
    } catch (error) {
      if (error instanceof Declined) {
        throw error;
      }
      problem = messageOf(error);
      if (reasonOf(error) === "key_refused") {
        return setUpKey(parts, place);
      }
    }
  }
}

/** Lets the user choose among VS Code's own. Address and key of before stay as they are: these models get neither. */
async function setUpEditorModels({ connection, session }: SetUpParts): Promise<void> {
  let models: OfferedModel[];
  try {
    ({ models } = await connection.request("ullage/model/list", { provider: "editor" }));
  } catch (error) {
    await tellError(messageOf(error));
    return;
  }
  await chooseModel(session, { models }, async (model) => {
    await setEditorModel(model);
    await session.request("ullage/session/setModel", { model });
    await vscode.commands.executeCommand("setContext", "ullage.connected", true);
  });
}

/** A server that has answered without a key gets none that was meant for another. */
async function use(parts: SetUpParts, place: ModelPlace, found: Found): Promise<void> {
  const { address, provider } = place;
  const before = placeInForce();
  if (address !== before.address || provider !== before.provider) {
    const stored = await parts.apiKey.read();
    if (
      stored !== undefined &&
      !(await confirm(t("The stored API key is not for {address}", { address }), FORGOTTEN, t("Forget the Key")))
    ) {
      return;
    }
    if (
      provider === "anthropic" &&
      process.env.ANTHROPIC_API_KEY &&
      !(await confirm(t("ANTHROPIC_API_KEY will be sent to {address}", { address }), INHERITED, t("Send It There")))
    ) {
      return;
    }
    if (stored !== undefined) {
      await changed(parts, place, undefined);
    }
  }
  await setEndpoint(place);
  await choose(parts, found);
}

/** The last step of the dialogue: the step of the walkthrough is done with it, not when the dialogue was only opened. */
async function choose({ session }: SetUpParts, found: Found): Promise<void> {
  await ("model" in found ? session.request("ullage/session/setModel", { model: found.model }) : chooseModel(session, found));
  await vscode.commands.executeCommand("setContext", "ullage.connected", true);
}

async function offeredAt({ connection }: SetUpParts, address: string): Promise<OfferedModel[]> {
  return (await connection.request("ullage/model/list", { address })).models;
}

/** What is found at that address, without the key; else at the endpoint in force. @throws Error of the server. */
function foundAt({ connection }: SetUpParts, place?: ModelPlace): Promise<Found | undefined> {
  const at = place ?? {};
  return findModels({
    list: async () => (await connection.request("ullage/model/list", at)).models,
    name: async (why, typed) =>
      askFor({
        title: TITLE,
        prompt: why,
        placeHolder: t("The model's name, as its server knows it"),
        value: typed,
        ignoreFocusOut: true,
      }),
    attempt: async (model) => {
      const progress = { location: vscode.ProgressLocation.Notification, title: t("Ullage: trying {model}", { model: labelText(model) }) };
      await vscode.window.withProgress(progress, async () => connection.request("ullage/model/try", { ...at, model }));
    },
  });
}

/** How a cloud is connected. */
function stepsOf(parts: SetUpParts): Steps {
  return {
    restarted: (change, isBack) =>
      restarted(
        parts,
        async () => {
          await parts.connection.stop();
          try {
            await change();
          } finally {
            await parts.connection.restart();
          }
        },
        isBack ? STAYS : undefined,
        t("Ullage: asking the cloud"),
      ),
    found: () => foundAt(parts),
    choose: (found) => choose(parts, found),
    packages: parts.launch,
  };
}

/** Changes address and key while no server runs, and waits until one does. @param stored the key, as `toStore` wrote it */
async function changed(parts: SetUpParts, place: ModelPlace, stored: string | undefined, declined?: string): Promise<void> {
  const { apiKey, connection } = parts;
  const endpoint = {
    address: () => placeInForce().address,
    setAddress: () => setEndpoint(place),
    key: () => apiKey.read(),
    setKey: (other: string | undefined) => apiKey.keep(other),
    stop: () => connection.stop(),
    restart: () => connection.restart(),
  };
  await restarted(parts, () => changeEndpoint(endpoint, place.address, stored), declined);
}

/** Does what makes the server start again, and waits until it runs. @throws Declined with that message, and has done nothing then */
async function restarted(
  { connection, background }: SetUpParts,
  change: () => Promise<void>,
  declined?: string,
  title = t("Ullage: trying the key"),
): Promise<void> {
  await background.agreedTo(async () => {
    const running = untilRestarted(connection);
    await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, async () => {
      await change();
      await running;
    });
  }, declined);
}

/** @throws Error where it does not run again, or not in time. */
function untilRestarted(connection: ServerConnection): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let begun = false;
  const timer = setTimeout(
    () => reject(new Error(t('The Ullage server did not start again in time. Use the command "Ullage: Restart server".'))),
    RESTART_LIMIT,
  );
  const subscription = connection.onDidChangeStatus(({ state, message }) => {
    begun ||= state === "restarting";
    if (begun && state === "running") {
      resolve();
    } else if (begun && state === "stopped") {
      reject(new Error(message ?? t('The Ullage server did not start again. Use the command "Ullage: Restart server".')));
    }
  });
  return promise.finally(() => {
    clearTimeout(timer);
    subscription.dispose();
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
