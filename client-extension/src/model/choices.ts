/**
 * What can be chosen of models: servers that may offer some, keys and addresses that can be tried, prices and effort in words, and which model a
 * server runs. A server lists its models, or the user types the name and it is tried: some answer messages and have no list. No VS Code in here.
 */

import { formatDollars, formatTokens } from "../format";
import { t } from "../l10n";
import type { Effort, Gauge, ModelInfo, OfferedModel } from "../protocol";
import { reasonOf } from "../server/answers";

/** A server that people run on their own machine, at the port that it takes by itself. */
interface LocalServer {
  name: string;
  address: string;
}

const LOCAL_SERVERS: readonly LocalServer[] = [
  { name: "Ollama", address: "http://127.0.0.1:11434" },
  { name: "LM Studio", address: "http://127.0.0.1:1234" },
  { name: "llama.cpp", address: "http://127.0.0.1:8080" },
  { name: "vLLM", address: "http://127.0.0.1:8000" },
  { name: "LiteLLM", address: "http://127.0.0.1:4000" },
];

/** Windows on a container of this machine, by `vscode.env.remoteName`. */
const IN_CONTAINER = new Set(["dev-container", "attached-container"]);

/** The name by which a container reaches the machine that it runs on: Docker Desktop's, and Podman's and OrbStack's as well. */
const AROUND_CONTAINER = "host.docker.internal";

/**
 * The servers to look for from where Ullage runs. From a container these are those of the machine around it, too: there people run them.
 *
 * @param remote name of the kind of remote machine that the window is on; undefined if it is on none
 */
export function serversToLookFor(remote: string | undefined): LocalServer[] {
  const around = LOCAL_SERVERS.map(({ name, address }) => ({ name, address: address.replace("127.0.0.1", AROUND_CONTAINER) }));
  return remote !== undefined && IN_CONTAINER.has(remote) ? [...LOCAL_SERVERS, ...around] : [...LOCAL_SERVERS];
}

/** What stands above the servers that were found. In a window on a remote machine the user's own is another one. */
export function headingOfServers(isLooking: boolean, found: number, isRemote: boolean): string {
  if (isLooking) {
    return isRemote ? t("On the remote machine: looking…") : t("On this machine: looking…");
  }
  if (found === 0) {
    return isRemote ? t("On the remote machine: no server found") : t("On this machine: no server found");
  }
  return isRemote ? t("On the remote machine") : t("On this machine");
}

/** Where a model is asked, and what is spoken there. An empty address is Anthropic's own. */
export interface ModelPlace {
  address: string;
  provider: "anthropic" | "openai";
}

/** OpenAI's own address. */
export const OPENAI = "https://api.openai.com/v1";

/** A cloud that has Claude. */
export type Cloud = "bedrock" | "vertex";

/** Whether a provider is one of them. */
export function isCloud(provider: string | undefined): provider is Cloud {
  return provider === "bedrock" || provider === "vertex";
}

interface CloudPart {
  /** Without `ullage.`. */
  setting: string;
  prompt: string;
  example: string;
}

/** What is asked for to connect each. */
export const CLOUDS: Record<Cloud, { title: string; detail: string; packages: string; parts: readonly CloudPart[] }> = {
  bedrock: {
    title: t("Claude in Amazon Bedrock"),
    detail: t("With the credentials of AWS on this machine, or a key of Bedrock in its environment"),
    packages: t(
      "Amazon's library boto3 finds your credentials and signs with them. Ullage can fetch it with what it needs (23 MB, from the package index that pip or uv uses here) into its own Python environment. Nothing else is changed. A key of Bedrock in AWS_BEARER_TOKEN_BEDROCK works without it.",
    ),
    parts: [
      {
        setting: "bedrock.region",
        prompt: t("Region of AWS. Empty: that of AWS_REGION or of the profile"),
        example: "us-east-1", // oxlint-disable-line ullage/untranslated -- a region's name
      },
    ],
  },
  vertex: {
    title: t("Claude in Google Vertex AI"),
    detail: t("With the credentials of Google Cloud on this machine"),
    packages: t(
      "Google's library google-auth finds your credentials. Ullage can fetch it with what it needs (23 MB, from the package index that pip or uv uses here) into its own Python environment. Nothing else is changed.",
    ),
    parts: [
      {
        setting: "vertex.project",
        prompt: t("Id of the project of Google Cloud. Empty: that of GOOGLE_CLOUD_PROJECT or of the credentials"),
        example: "my-project-123", // oxlint-disable-line ullage/untranslated -- an id
      },
      {
        setting: "vertex.region",
        prompt: t("Region of Google Cloud. Empty: global"),
        example: "global", // oxlint-disable-line ullage/untranslated -- a region's name
      },
    ],
  },
};

/** What is wrong with a region or project; undefined if it can be tried. */
export function partProblem(typed: string): string | undefined {
  return /^([a-z0-9][a-z0-9.:_-]*)?$/.test(typed.trim()) ? undefined : t("It has small letters, digits and hyphens alone");
}

/** Whether a key is asked for before anything is tried: gateways list their models to everybody, and answer nobody without a key. */
export function asksForKey({ address, provider }: ModelPlace): boolean {
  return provider === "openai" && new URL(address).protocol === "https:";
}

/** What is wrong with an address; undefined if it can be tried. */
export function addressProblem(typed: string): string | undefined {
  const address = typed.trim();
  if (address === "") {
    return t("An address is needed, such as http://127.0.0.1:8080");
  }
  try {
    const { protocol, hostname } = new URL(address);
    return (protocol === "http:" || protocol === "https:") && hostname !== "" ? undefined : t("It begins with http:// or https://");
  } catch {
    return t("This is no web address. It looks like http://127.0.0.1:8080");
  }
}

/** What is wrong with a key for Anthropic's own endpoint; undefined if it can be tried. */
export function keyProblem(typed: string): string | undefined {
  const key = typed.trim();
  if (/\s/.test(key)) {
    return t("A key has no spaces in it");
  }
  return key.startsWith("sk-ant-") || key === "" ? undefined : t("A key of Anthropic begins with sk-ant-");
}

/** Why a key was refused, without how one is set: that is what the dialogue is for in which it is said. */
export function refusalOfKey(message: string): string {
  return message.replace(/ Set (one|it|the right one)\b[^.]*with the command [\s\S]*$/, "");
}

/** Address and key in force, and the server that has both. To store another key starts it again. */
interface Endpoint {
  address: () => string;
  setAddress: (address: string) => Promise<void>;
  /** With the address that it is for, as it is stored (`storedKey.ts`). */
  key: () => Promise<string | undefined>;
  setKey: (stored: string | undefined) => Promise<void>;
  stop: () => Promise<void>;
  restart: () => Promise<void>;
}

/**
 * Takes another address, where one is given, and another key, with no server running in between: it would ask at once, and send the key of one address to the other. Other
 * windows have servers, too: the key of before is gone before the address is another one.
 */
export async function changeEndpoint(endpoint: Endpoint, address: string | undefined, key: string | undefined): Promise<void> {
  const before = { address: endpoint.address(), key: await endpoint.key() };
  const moves = address !== undefined && address !== before.address;
  if (moves && before.key !== undefined) {
    await endpoint.setKey(undefined);
  }
  await endpoint.stop();
  let next = key;
  try {
    if (address !== undefined) {
      await endpoint.setAddress(address);
    }
  } catch (error) {
    next = endpoint.address() === before.address ? before.key : undefined;
    throw error;
  } finally {
    await ((await endpoint.key()) === next ? endpoint.restart() : endpoint.setKey(next)); // the same one once more would not start it
  }
}

/** `1M window · $4 in, $20 out per million tokens`: what is known of it. */
export function offerInWords({ window, prices }: OfferedModel): string {
  return [
    window == null ? "" : t("{window} window", { window: formatTokens(window) }),
    prices == null ? "" : t("${input} in, ${output} out per million tokens", { input: prices.input, output: prices.output }),
  ]
    .filter(Boolean)
    .join(" · ");
}

const IN_WORDS: Record<Effort | "default", readonly [label: string, detail: string]> = {
  default: [t("Default"), t("As much as the model takes by itself")],
  low: [t("Low"), t("Quickest and cheapest, for simple tasks")],
  medium: [t("Medium"), t("Less time and cost than high, for everyday tasks")],
  high: [t("High"), t("Thorough, for difficult tasks")],
  xhigh: [t("Extra high"), t("More than high, for long tasks of many steps")],
  max: [t("Maximum"), t("All that the model can do, whatever it costs")],
};

interface EffortChoice {
  effort: Effort | "default";
  label: string;
  detail: string;
  isCurrent: boolean;
}

/** What can be chosen for that model, least first; empty if it takes no effort. */
export function effortChoices({ efforts, effort }: Pick<ModelInfo, "efforts" | "effort">): EffortChoice[] {
  if (!efforts?.length) {
    return [];
  }
  const current = effort ?? "default";
  return (["default", ...efforts] as const)
    .filter((each) => each in IN_WORDS)
    .map((each) => ({ effort: each, label: IN_WORDS[each][0], detail: IN_WORDS[each][1], isCurrent: each === current }));
}

/** What another effort does to the prompt cache, with what it costs where prices are known. */
export function effortChangeInWords(gauge: Pick<Gauge, "used" | "anewCost"> | undefined): string {
  if (gauge?.anewCost == null) {
    return t("After a change the next request is not read from the prompt cache, which costs more once");
  }
  const values = { tokens: formatTokens(gauge.used), dollars: formatDollars(gauge.anewCost) };
  return t("A change costs about {dollars} once: {tokens} tokens are cached again", values);
}

/** The effort that is asked for, in a word or two; empty if the model takes none. */
export function effortLabel(model: Pick<ModelInfo, "efforts" | "effort">): string {
  return effortChoices(model).find(({ isCurrent }) => isCurrent)?.label ?? "";
}

/** How the dialogue asks the server and the user. */
export interface ModelSearch {
  /** @throws Error where the server does not tell, with the reason `list_refused` where it has no list. */
  list: () => Promise<readonly OfferedModel[]>;
  /** Asks the user for a name; undefined if they leave. @param why it is asked for. @param typed what was typed before. */
  name: (why: string, typed: string) => Promise<string | undefined>;
  /** Sends that model one short message. @throws Error where no answer comes. */
  attempt: (model: string) => Promise<void>;
}

/** What can be chosen, or the name of the model that was typed and has answered. */
export type Found = { models: readonly OfferedModel[] } | { model: string };

/**
 * Undefined if the user leaves before anything was tried.
 *
 * @throws Error of the server. Where names were tried, it is what the last one was refused with: its words may be about the address or the key.
 */
export async function findModels(asking: ModelSearch): Promise<Found | undefined> {
  try {
    return { models: await asking.list() };
  } catch (error) {
    if (reasonOf(error) !== "list_refused") {
      throw error;
    }
    return tryByName(asking, (error as Error).message);
  }
}

async function tryByName({ name, attempt }: ModelSearch, noList: string): Promise<Found | undefined> {
  let why = `${noList} ${t("Type the name of a model that it runs. It is tried with one short message.")}`;
  let refused: Error | undefined;
  for (let typed = ""; ;) {
    const model = (await name(why, typed))?.trim();
    if (!model) {
      if (refused !== undefined) {
        throw refused;
      }
      return undefined;
    }
    try {
      await attempt(model);
      return { model };
    } catch (error) {
      if (reasonOf(error) === "key_refused") {
        throw error; // another name does not help
      }
      refused = error as Error;
      why = refused.message;
      typed = model;
    }
  }
}
