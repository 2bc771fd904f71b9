/** Language models of another extension, which answer by a script. They refuse what Copilot's refuse. */

const vscode = require("vscode");

const VENDOR = "otherVendor";

/** @param {string} id @param {string} name @param {boolean} toolCalling */
const model = (id, name, toolCalling) => ({
  id,
  name,
  family: "scripted",
  version: "1",
  maxInputTokens: 64_000,
  maxOutputTokens: 4_000,
  capabilities: { imageInput: true, toolCalling },
});

const MODELS = [model("worker", "Other Worker", true), model("mute", "Other Mute", false)];

exports.registerModels = () =>
  vscode.lm.registerLanguageModelChatProvider(VENDOR, {
    provideLanguageModelChatInformation: () => MODELS,
    provideTokenCount: (_, text) => Promise.resolve(Math.ceil((typeof text === "string" ? text : textOf(text.content)).length / 3)),
    provideLanguageModelChatResponse: async (_, messages, options, progress) => {
      check(messages);
      const said = textOf(messages.at(-1).content);
      const result = messages.at(-1).content.some((part) => part instanceof vscode.LanguageModelToolResultPart);
      if (said.includes("quota")) {
        throw Object.assign(new Error("You have used up your requests of this month."), { name: "ChatQuotaExceeded" });
      }
      if (said.includes("note") && !result && options.tools?.some(({ name }) => name === "write_file")) {
        progress.report(new vscode.LanguageModelTextPart("I write it down."));
        progress.report(new vscode.LanguageModelToolCallPart("call_1", "write_file", { path: "note.txt", content: "The dip is 42.\n" }));
        return;
      }
      if (said.includes("=== RECORD ===")) {
        progress.report(new vscode.LanguageModelTextPart("=== RECORD ===\nThe user asks about a tank.\n=== END OF RECORD ==="));
        return;
      }
      progress.report(new vscode.LanguageModelTextPart(result ? "It is noted." : "The tank holds 40,000 litres. ".repeat(700)));
    },
  });

/** @param {readonly import("vscode").LanguageModelChatRequestMessage[]} messages */
function check(messages) {
  const waiting = new Set();
  for (const { role, content } of messages) {
    const results = content.filter((part) => part instanceof vscode.LanguageModelToolResultPart);
    if (waiting.size > 0 && results.length !== content.length) throw new Error("Tool calls must be followed by their results alone");
    for (const { callId } of results) if (!waiting.delete(callId)) throw new Error("A result without its call");
    const calls = content.filter((part) => part instanceof vscode.LanguageModelToolCallPart);
    if (calls.length > 0 && role !== vscode.LanguageModelChatMessageRole.Assistant) throw new Error("A call of the user's");
    for (const { callId } of calls) waiting.add(callId);
  }
  if (waiting.size > 0) throw new Error("A call without its result");
}

/** @param {readonly unknown[]} content */
function textOf(content) {
  return content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : "")).join("\n");
}
