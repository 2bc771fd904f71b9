/** MCP servers in words, their resources after `@`, and their prompts among the commands. */

import "./dom";
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { newToTell, placeOf, stateInWords, toldInWords, trustQuestion } from "../../client-extension/src/mcp/serversText";
import type { McpResource, McpServer } from "../../client-extension/src/protocol";
import { Composer } from "../../client-extension/webview/dock/composer";
import { OfferedResources, resourcesFor } from "../../client-extension/webview/dock/mentions";
import { INITIAL_STATE, reduce } from "../../client-extension/webview/state";
import { typingIn } from "./composing";
import { recordingActions } from "./recordingActions";
import { snapshot } from "./samples";

const MANUAL: McpResource = { uri: "pump://manual", name: "The manual", description: "How to pump" };

function server(changes: Partial<McpServer> = {}): McpServer {
  return {
    name: "pumps",
    source: ".mcp.json",
    file: ".mcp.json",
    kind: "stdio",
    state: "running",
    fingerprint: "f1",
    asks: false,
    shown: "uvx pump-server --all",
    tools: [],
    resources: [],
    prompts: 0,
    indexTokens: 0,
    toolTokens: 0,
    ...changes,
  };
}

void describe("a server in words", () => {
  const tool = { name: "open_valve", description: "Opens a valve" };
  for (const [changes, words] of [
    [{ state: "off" }, "off"],
    [{ state: "untrusted" }, "not started: you have not trusted it"],
    [{ state: "untrusted", kind: "http" }, "off until you turn it on"],
    [{ state: "starting" }, "starting…"],
    [{ state: "waiting", why: "it ended with exit code 7" }, "is started again soon: it ended with exit code 7"],
    [{ state: "waiting" }, "is started again soon"],
    [{ state: "sign_in", why: "it wants you to sign in" }, "waits for you to sign in"],
    [{ state: "failed", why: "there is no program `x`" }, "failed: there is no program `x`"],
    [{ state: "failed" }, "failed"],
    [{}, "0 tools"],
    [{ tools: [tool], indexTokens: 14, toolTokens: 1_975 }, "1 tool · 14 tokens in the index, 1,975 if all were loaded"],
    [
      { tools: [tool, tool], prompts: 1, resources: [MANUAL] },
      "2 tools · 1 prompt · 1 resource · 0 tokens in the index, 0 if all were loaded",
    ],
  ] satisfies [Partial<McpServer>, string][]) {
    test(words, () => assert.equal(stateInWords(server(changes)), words));
  }

  test("before it is started its exact command is shown, or who it is that would be asked", () => {
    const program = trustQuestion(server());
    assert.equal(program.title, "Trust the MCP server pumps and start it?");
    assert.ok(program.detail.endsWith("The command: uvx pump-server --all"));
    const service = trustQuestion(server({ kind: "http", host: "pumps.example.org", shown: "https://pumps.example.org/mcp" }));
    assert.match(service.detail, /a service at pumps\.example\.org\..*Its address: https:\/\/pumps\.example\.org\/mcp$/);
  });

  test("where it stands", () => {
    assert.equal(placeOf(server()), ".mcp.json");
    assert.equal(placeOf(server({ source: "settings", file: null })), "your settings");
  });

  test("each configuration is told of once, and anew when it has changed", () => {
    const asks = server({ asks: true });
    assert.deepEqual(newToTell([asks, server({ name: "other" })], []), [asks]);
    assert.deepEqual(newToTell([asks], ["f1"]), []);
    assert.deepEqual(newToTell([{ ...asks, fingerprint: "f2" }], ["f1"]).length, 1);
    assert.match(toldInWords([asks]), /^An MCP server is configured here: pumps\./);
    assert.match(toldInWords([asks, server({ name: "git" })]), /^2 MCP servers are configured here: pumps, git\./);
  });
});

void describe("resources after @", () => {
  test("are found by server and name, and written without a blank", () => {
    const servers = [server({ resources: [MANUAL, { uri: "pump://plan", name: "plan" }] }), server({ name: "git" })];
    const [found, ...more] = resourcesFor("MANU", servers);
    assert.deepEqual(more, []);
    assert.deepEqual(found, {
      label: "pumps:The manual",
      detail: "How to pump",
      icon: "plug",
      written: "pumps:The_manual",
      ref: { kind: "resource", server: "pumps", uri: "pump://manual" },
    });
    assert.deepEqual(
      resourcesFor("pumps:", servers).map(({ detail }) => detail),
      ["How to pump", "pump://plan"],
    );
    assert.deepEqual(resourcesFor("valve", servers), []);
  });

  test("a name that would draw over the menu is drawn as it is written", () => {
    const odd = { uri: "x://y", name: "manual\u202Egnp.exe\nsecond line", description: "a\u0000b" };
    const [found] = resourcesFor("manual", [server({ resources: [odd] })]);
    assert.ok(!["\u202E", "\n", "\u0000"].some((character) => `${found?.label}${found?.detail}`.includes(character)));
  });

  test("however many there are, a menu has twenty", () => {
    const many = Array.from({ length: 500 }, (_, index) => ({ uri: `x://${index}`, name: `page ${index}` }));
    assert.equal(resourcesFor("page", [server({ resources: many })]).length, 20);
  });

  test("the list is asked for once while a word is typed, and a server that is gone offers nothing", async () => {
    let asked = 0;
    const offered = new OfferedResources(async () => {
      asked += 1;
      return [server({ resources: [MANUAL] })];
    });
    await offered.matching("m");
    assert.equal((await offered.matching("man")).length, 1);
    assert.equal(asked, 1);
    const gone = new OfferedResources(async () => Promise.reject(new Error("gone")));
    assert.deepEqual(await gone.matching("m"), []);
  });
});

function composer() {
  const { actions, done } = recordingActions();
  const commands = [{ name: "pumps:inspect", description: "Inspects a tank", input: { hint: "[tank]" }, source: "MCP: pumps" }];
  const answers: Record<string, object> = {
    "ullage/mcp/list": { servers: [server({ resources: [MANUAL] })] },
    "ullage/command/list": { commands },
  };
  actions.ask = async (method: string) => answers[method] as never;
  actions.findFiles = async () => [{ uri: "file:///w/manual.md", path: "manual.md", open: false }];
  const host = {
    actions,
    runSlashCommand: () => undefined,
    showContext: () => undefined,
    focusConversation: () => undefined,
    refuse: () => undefined,
    sent: () => undefined,
    remember: () => undefined,
  };
  const made = new Composer(host, "", []);
  made.update(reduce(INITIAL_STATE, { type: "snapshot", snapshot: snapshot({}) }).session, true);
  return { ...typingIn(made), done };
}

void describe("in the prompt box", () => {
  test("a resource stands below the files, is attached and named in the text", async () => {
    const { box, write, press, options, done } = composer();
    await write("See @manual");
    assert.deepEqual(options(), ["manual.md", "pumps:The manual"]);
    await press("ArrowDown");
    await press("Enter");
    assert.equal(box.value, "See @pumps:The_manual ");
    await press("Enter");
    assert.deepEqual(done, ['prompt See @pumps:The_manual [{"kind":"resource","server":"pumps","uri":"pump://manual"}] queue']);
  });

  test("a prompt is a command, and waits for its argument", async () => {
    const { box, write, press, options, done } = composer();
    await write("/pumps");
    assert.deepEqual(options(), ["/pumps:inspect [tank]"]);
    await press("Enter");
    assert.equal(box.value, "/pumps:inspect ");
    await write("/pumps:inspect B");
    await press("Enter");
    assert.deepEqual(done, ["prompt /pumps:inspect B [] queue"]);
  });
});
