/**
 * Which model a server runs: it lists them, or the user types the name and it is tried. A server may answer messages and have no list. No VS Code
 * in here.
 */

import type { OfferedModel } from "../protocol";
import { reasonOf } from "../server/answers";

/** How the dialogue asks the server and the user. */
export interface Asking {
  /** @throws Error where the server does not tell, with the reason `list_refused` where it has no list. */
  list: () => Promise<readonly OfferedModel[]>;
  /** Asks the user for a name; undefined where they leave. @param why it is asked for. @param typed what was typed before. */
  name: (why: string, typed: string) => Promise<string | undefined>;
  /** Sends that model one short message. @throws Error where no answer comes. */
  attempt: (model: string) => Promise<void>;
}

/** What can be chosen, or the name of the model that was typed and has answered. */
export type Found = { models: readonly OfferedModel[] } | { model: string };

/**
 * Undefined where the user leaves before anything was tried.
 *
 * @throws Error of the server. Where names were tried, it is what the last one was refused with: its words may be about the address or the key.
 */
export async function findModels(asking: Asking): Promise<Found | undefined> {
  try {
    return { models: await asking.list() };
  } catch (error) {
    if (reasonOf(error) !== "list_refused") {
      throw error;
    }
    return tryByName(asking, (error as Error).message);
  }
}

async function tryByName({ name, attempt }: Asking, noList: string): Promise<Found | undefined> {
  let why = `${noList} Type the name of a model that it runs. It is tried with one short message.`;
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
