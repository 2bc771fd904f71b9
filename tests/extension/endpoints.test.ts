/** What is said of addresses, keys and offered models. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  effortChangeInWords,
  addressProblem,
  asksForKey,
  CLOUDS,
  partProblem,
  changeEndpoint,
  refusalOfKey,
  serversToLookFor,
  keyProblem,
  headingOfServers,
  offerInWords,
  findModels,
} from "../../client-extension/src/model/choices";
import { fromStore, toStore } from "../../client-extension/src/model/storedKey";
import { ROOT } from "./repository";
import { USER_ERROR_CODE } from "../../client-extension/src/protocol";

for (const [typed, fits] of [
  ["http://127.0.0.1:8080", true],
  [" https://models.example ", true],
  ["", false],
  ["127.0.0.1:8080", false],
  ["ftp://x", false],
  ["abc", false],
] as const) {
  test(`an address is looked at before it is tried: ${typed}`, () => assert.equal(addressProblem(typed) === undefined, fits));
}

test("a key that can be none is not accepted silently", () => {
  assert.equal(keyProblem("sk-ant-abc"), undefined);
  assert.match(keyProblem("abc") ?? "", /sk-ant-/);
  assert.match(keyProblem("sk-ant a") ?? "", /spaces/);
});

test("a region or project can be part of an address, and nothing else", () => {
  for (const typed of ["", " us-east-1 ", "example.com:my-project", "global"]) {
    assert.equal(partProblem(typed), undefined);
  }
  for (const typed of ["us-east-1.evil/", "Global", "a b", "../x"]) {
    assert.match(partProblem(typed) ?? "", /small letters/);
  }
});

test("what is asked for of a cloud are settings that a workspace cannot set", () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, "client-extension", "package.json"), "utf8")) as {
    contributes: { configuration: { properties: Record<string, { scope?: string }> }[] };
  };
  const settings = Object.assign({}, ...manifest.contributes.configuration.map(({ properties }) => properties)) as Record<
    string,
    { scope?: string }
  >;
  for (const { setting } of Object.values(CLOUDS).flatMap(({ parts }) => parts)) {
    assert.equal(settings[`ullage.${setting}`]?.scope, "machine");
  }
});

test("a gateway that lists its models to everybody asks for a key first", () => {
  assert.ok(asksForKey({ address: "https://openrouter.ai/api/v1", provider: "openai" }));
  assert.ok(!asksForKey({ address: "http://127.0.0.1:11434", provider: "openai" }));
  assert.ok(!asksForKey({ address: "https://gateway.example", provider: "anthropic" }));
});

const hosts = (remote?: string) => [...new Set(serversToLookFor(remote).map(({ address }) => new URL(address).hostname))];

test("servers are looked for on this machine alone, and from a container on the machine around it", () => {
  for (const remote of [undefined, "ssh-remote", "wsl", "codespaces", "localhost:8080"]) assert.deepEqual(hosts(remote), ["127.0.0.1"]);
  for (const remote of ["dev-container", "attached-container"]) assert.deepEqual(hosts(remote), ["127.0.0.1", "host.docker.internal"]);
});

test("the list of servers says which machine is meant", () => {
  assert.match(headingOfServers(true, 0, false), /this machine.*looking/);
  assert.match(headingOfServers(true, 0, true), /remote machine.*looking/);
  assert.match(headingOfServers(false, 0, true), /remote machine.*no server/);
  assert.equal(headingOfServers(false, 1, true), "On the remote machine");
});

test("an offered model says what is known of it", () => {
  const model = { name: "m", displayName: "M" };
  assert.equal(
    offerInWords({ ...model, window: 1_000_000, prices: { input: 4, output: 20 } }),
    "1M window · $4 in, $20 out per million tokens",
  );
  assert.equal(offerInWords({ ...model, window: 32_768 }), "33k window");
  assert.equal(offerInWords(model), "");
});

test("in the dialogue that asks for a key a refusal does not say how to set one", () => {
  const refused =
    'The server at http://127.0.0.1:8080 does not accept the API key (invalid key). Set the right one with the command "Ullage: Set API key…".';
  assert.equal(refusalOfKey(refused), "The server at http://127.0.0.1:8080 does not accept the API key (invalid key).");
  const gone = "The server at http://127.0.0.1:8080 cannot be reached: nothing listens there. Check the address, and that the server runs.";
  assert.equal(refusalOfKey(gone), gone);
});

const OFFERED = [{ name: "qwen3", displayName: "qwen3" }];

function refusal(reason: string, message: string): Error {
  return Object.assign(new Error(message), { code: USER_ERROR_CODE, data: { reason } });
}

const NO_LIST = refusal("list_refused", "The server at http://127.0.0.1:8080 does not list its models (HTTP 404).");

/** A server without a list that knows the model `mine`; the user types these names one after the other and leaves then. */
function withoutList(names: string[], answer: Error = refusal("endpoint_failed", "It does not know the model.")) {
  const seen = { asked: [] as string[][], tried: [] as string[] };
  const found = findModels({
    list: () => Promise.reject(NO_LIST),
    name: async (why, typed) => {
      seen.asked.push([why, typed]);
      return names.shift();
    },
    attempt: async (model) => {
      seen.tried.push(model);
      if (model !== "mine") {
        throw answer;
      }
    },
  });
  return { found, seen };
}

const never = () => Promise.reject(new Error("asked"));

test("a server that lists its models is asked for nothing else", async () => {
  assert.deepEqual(await findModels({ list: async () => OFFERED, name: never, attempt: never }), { models: OFFERED });
  const gone = refusal("endpoint_failed", "It cannot be reached");
  await assert.rejects(findModels({ list: () => Promise.reject(gone), name: never, attempt: never }), gone);
});

test("where a server has no list the user is told why, and the name that they type is tried", async () => {
  const { found, seen } = withoutList([" mine "]);
  assert.deepEqual(await found, { model: "mine" });
  assert.deepEqual(seen.tried, ["mine"]);
  assert.match(seen.asked[0]?.[0] ?? "", /does not list its models \(HTTP 404\)\. Type the name .* tried with one short message\.$/);
});

test("a name that the server refuses is asked for again, with what it said", async () => {
  const { found, seen } = withoutList(["other", "mine"]);
  assert.deepEqual(await found, { model: "mine" });
  assert.deepEqual(seen.asked[1], ["It does not know the model.", "other"]);
});

test("who types no name has connected nothing", async () => assert.equal(await withoutList([]).found, undefined));

test("who leaves after a refusal comes back to the address with it", async () => {
  await assert.rejects(withoutList(["other"]).found, /does not know the model/);
});

test("where the trial shows that a key is needed no other name is asked for", async () => {
  const { found, seen } = withoutList(["other", "mine"], refusal("key_refused", "It asks for a key"));
  await assert.rejects(found, /asks for a key/);
  assert.equal(seen.asked.length, 1);
});

/** A server that asks its address with its key whenever it starts and when the address changes under it; `asked` has both. */
function server(address: string, key: string | undefined, setAddress = () => Promise.resolve()) {
  const asked: [address: string, key: string | undefined][] = [];
  let runs = true;
  const ask = () => {
    if (runs) {
      asked.push([address, key]);
    }
  };
  const start = () => {
    runs = true;
    ask();
    return Promise.resolve();
  };
  const endpoint = {
    address: () => address,
    setAddress: async (other: string) => {
      await setAddress();
      address = other;
      ask();
    },
    key: () => Promise.resolve(key),
    setKey: (other: string | undefined) => {
      key = other;
      return start();
    },
    stop: () => {
      runs = false;
      return Promise.resolve();
    },
    restart: start,
  };
  return { endpoint, asked };
}

for (const [title, key, other] of [
  ["a key is taken for another address", "old", "new"],
  ["a key is forgotten with its address", "old", undefined],
  ["a first key is taken", undefined, "new"],
] as const) {
  test(`no key goes to the address of another one: ${title}`, async () => {
    const { endpoint, asked } = server("http://old", key);
    await changeEndpoint(endpoint, "http://new", other);
    assert.deepEqual(asked.at(-1), ["http://new", other]);
    for (const [address, sent] of asked) {
      assert.ok(sent === undefined || address.endsWith(sent), `${sent} went to ${address}`);
    }
  });
}

for (const [address, kept] of [
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
  [" http://proxy ", "http://proxy"],
  ["", "https://api.anthropic.com"],
] as const) {
  test(`a key is kept with the address that it was given for: "${address}"`, () =>
    assert.deepEqual(fromStore(toStore("sk-ant-1", address)), { key: "sk-ant-1", address: kept }));
}

test("a key of an earlier version is for whatever address is set, also where it looks like something else", () => {
  for (const key of ["sk-ant-1", "123", "null", "[]", '{"key":1}', '{"key":"a"}', "{"]) {
    assert.deepEqual(fromStore(key), { key, address: undefined });
  }
  assert.equal(fromStore(undefined), undefined);
  assert.equal(fromStore(""), undefined);
});

test("the same key once more starts the server again", async () => {
  const { endpoint, asked } = server("http://old", "old");
  await changeEndpoint(endpoint, "http://old", "old");
  assert.deepEqual(asked.at(-1), ["http://old", "old"]);
});

test("the server runs again where the address cannot be set", async () => {
  const { endpoint, asked } = server("http://old", "old", () => Promise.reject(new Error("set for this workspace")));
  await assert.rejects(changeEndpoint(endpoint, "http://new", "new"), /set for this workspace/);
  assert.deepEqual(asked.at(-1), ["http://old", "old"]);
});

test("what another effort costs is said before it is chosen, as far as prices are known", () => {
  assert.equal(effortChangeInWords({ used: 84_210, anewCost: 0.4042 }), "A change costs about $0.40 once: 84k tokens are cached again");
  assert.match(effortChangeInWords({ used: 84_210 }), /not read from the prompt cache, which costs more once$/);
  assert.match(effortChangeInWords(undefined), /costs more once$/);
});
