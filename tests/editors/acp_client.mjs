/**
 * A conversation of the official TypeScript client of the Agent Client Protocol with `ullage acp`; what crossed the wire goes to a file.
 *
 * Run by tests/editors/acp_recording.py. ACP_SDK is the main file of the package `@agentclientprotocol/sdk`, ACP_COMMAND the command of the agent as
 * JSON, ACP_FOLDER the folder of the session, ACP_WIRE the file that is written: a line for each message, with who sent it.
 */

import { spawn } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const { ACP_SDK, ACP_COMMAND, ACP_FOLDER: folder, ACP_WIRE } = process.env;
const { client, methods, ndJsonStream, PROTOCOL_VERSION } = await import(pathToFileURL(ACP_SDK).href);

function told(from) {
  let rest = "";
  const decoder = new TextDecoder();
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        if (line.trim() !== "") appendFileSync(ACP_WIRE, `${JSON.stringify({ from, message: JSON.parse(line) })}\n`);
      }
      controller.enqueue(chunk);
    },
  });
}

const [program, ...given] = JSON.parse(ACP_COMMAND);
const server = spawn(program, given, { stdio: ["pipe", "pipe", "inherit"] });
const output = told("client");
output.readable.pipeTo(Writable.toWeb(server.stdin)).catch(() => {}); // it is closed at the end
const stream = ndJsonStream(output.writable, Readable.toWeb(server.stdout).pipeThrough(told("agent")));

const answers = ["allow_once", "reject_once", "allow_once"];
let onChunk = () => {};

const app = client({ name: "recorder" })
  .onRequest(methods.client.session.requestPermission, () => ({ outcome: { outcome: "selected", optionId: answers.shift() } }))
  .onRequest(methods.client.fs.readTextFile, ({ params }) => ({ content: readFileSync(params.path, "utf8") }))
  .onRequest(methods.client.fs.writeTextFile, ({ params }) => (writeFileSync(params.path, params.content), {}))
  .onNotification(methods.client.session.update, ({ params }) => {
    if (params.update.sessionUpdate === "agent_message_chunk") onChunk();
  });

const text = (words) => ({ type: "text", text: words });

await app.connectWith(stream, async (agent) => {
  const say = (...prompt) => agent.request(methods.agent.session.prompt, { sessionId, prompt });
  await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: "recorder", version: "1" },
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, session: { compaction: {}, notices: {} } },
  });
  const mcpServers = [{ type: "http", name: "tides", url: "https://tides.example.org/mcp", headers: [] }];
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: folder, mcpServers });
  const uri = pathToFileURL(`${folder}/pump.py`).href;
  await say(text("Raise the pressure in "), { type: "resource_link", name: "pump.py", uri }, text(" as it says here:"), {
    type: "resource",
    resource: { uri: "zed:///terminal", text: "$ ./pump\ntoo low\n" },
  });
  await say(text("Make a folder"));
  await agent.request(methods.agent.session.setMode, { sessionId, modeId: "plan" });
  await say(text("Mend the pump"));
  await agent.request(methods.agent.session.setConfigOption, { sessionId, configId: "effort", value: "low" });
  for (const number of [1, 2, 3]) await say(text(`Look at tap ${number}`));
  await say(text("/compact taps"));
  await say(text("/undo"));
  const chunk = new Promise((resolve) => (onChunk = resolve));
  const counting = say(text("Count"));
  await chunk;
  await agent.notify(methods.agent.session.cancel, { sessionId });
  await counting;
  await agent.request(methods.agent.session.list, { cwd: folder });
  await agent.request(methods.agent.session.close, { sessionId });
  await say(text("Still there?")).catch(() => {});
  await agent.request(methods.agent.session.load, { sessionId, cwd: folder, mcpServers: [] });
  await agent.request(methods.agent.session.delete, { sessionId });
  server.kill();
  process.exit(0); // the client would take the end of its server for an error
});
