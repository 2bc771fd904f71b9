/**
 * VS Code's language models, for the server: what there is, a request with its reply, and a count of tokens. `chatFailures.ts` has what the
 * server is told of failures, `connect.ts` how a model is chosen.
 *
 * VS Code asks the user for consent at the first request to a vendor. The server sends one only for what the user has asked.
 */

import * as vscode from "vscode";
import type { CancellationToken, LanguageClient, StaticFeature } from "vscode-languageclient/node";
import { t } from "../l10n";
import type { ChatMessage, ClientNotifications, EditorModel, ReplyPart, SentPart, ServerRequests } from "../protocol";
import { countOf, failureOf, inputAsJson, textOf } from "./chatFailures";

type Chat = ServerRequests["ullage/editor/chat"];
type Count = ServerRequests["ullage/editor/countTokens"];

/** What VS Code knows of a model beyond its stable API; read where it is there. */
interface Capabilities {
  capabilities?: { supportsToolCalling?: boolean | number; supportsImageToText?: boolean };
}

/** A part of VS Code's API that is not stable yet. What comes is taken; none is ever sent. */
const { LanguageModelThinkingPart: ThinkingPart } = vscode as unknown as {
  LanguageModelThinkingPart?: new () => { value: string | string[] };
};

/** Answers the server while the client runs. */
export class EditorModels implements StaticFeature {
  private listener: vscode.Disposable | undefined;

  constructor(private readonly client: LanguageClient) {
    client.onRequest("ullage/editor/models", async () => ({ models: (await vscode.lm.selectChatModels()).map(described) }));
    client.onRequest("ullage/editor/chat", async (params: Chat[0], token) => this.chat(params, token));
    client.onRequest("ullage/editor/countTokens", count);
  }

  initialize(): void {
    this.listener = vscode.lm.onDidChangeChatModels(() => void this.tell("ullage/editor/modelsChanged", {}));
  }

  getState(): { kind: "static" } {
    return { kind: "static" };
  }

  fillClientCapabilities(): void {
    // Nothing of LSP is about this.
  }

  clear(): void {
    this.listener?.dispose();
  }

  private async tell<M extends keyof ClientNotifications>(method: M, params: ClientNotifications[M]): Promise<void> {
    await this.client.sendNotification(method, params).catch(() => undefined); // a server that has gone needs no news
  }

  /** Passes the parts on as they come. The answer is the end; a request that the server has given up ends at once, whatever the model does. */
  private async chat({ chatId, model: id, messages, tools }: Chat[0], token: CancellationToken): Promise<Chat[1]> {
    const stop = new vscode.CancellationTokenSource();
    const ended = Promise.withResolvers<Chat[1]>();
    const given = token.onCancellationRequested(() => ended.resolve({}));
    const followed = vscode.lm.onDidChangeChatModels(async () => {
      if ((await modelOf(id)) === undefined) {
        ended.resolve({ failure: { reason: "gone", said: "" } });
      }
    });
    try {
      return await Promise.race([ended.promise, this.reply(chatId, id, messages, tools, stop.token)]);
    } catch (error) {
      return { failure: failureOf(error) };
    } finally {
      given.dispose();
      followed.dispose();
      stop.cancel();
      stop.dispose();
    }
  }

  private async reply(
    chatId: string,
    id: string,
    messages: Chat[0]["messages"],
    tools: Chat[0]["tools"],
    token: vscode.CancellationToken,
  ): Promise<Chat[1]> {
    const model = await modelOf(id);
    if (model === undefined) {
      return { failure: { reason: "gone", said: "" } };
    }
    const options: vscode.LanguageModelChatRequestOptions = {
      justification: t("This model answers in your Ullage sessions."),
      tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema: JSON.parse(inputSchema) as object })),
    };
    const response = await model.sendRequest(messages.map(sentMessage), options, token);
    for await (const part of response.stream) {
      const shown = replyPart(part);
      if (shown !== undefined && !token.isCancellationRequested) {
        await this.tell("ullage/editor/chatParts", { chatId, parts: [shown] }); // else the answer could overtake it
      }
    }
    return {};
  }
}

async function modelOf(id: string): Promise<vscode.LanguageModelChat | undefined> {
  const slash = id.indexOf("/");
  const found = await vscode.lm.selectChatModels({ vendor: id.slice(0, slash), id: id.slice(slash + 1) });
  return found[0];
}

function described(model: vscode.LanguageModelChat): EditorModel {
  const { capabilities } = model as Capabilities;
  return {
    id: `${model.vendor}/${model.id}`,
    name: model.name,
    vendor: model.vendor,
    window: countOf(model.maxInputTokens),
    images: capabilities?.supportsImageToText,
    tools: capabilities?.supportsToolCalling === undefined ? undefined : Boolean(capabilities.supportsToolCalling),
  };
}

function sentMessage({ role, parts }: ChatMessage): vscode.LanguageModelChatMessage {
  const { Assistant, User } = vscode.LanguageModelChatMessageRole;
  return new vscode.LanguageModelChatMessage(role === "assistant" ? Assistant : User, parts.map(sentPart));
}

function sentPart(part: SentPart): vscode.LanguageModelInputPart {
  switch (part.kind) {
    case "text":
      return new vscode.LanguageModelTextPart(part.text);
    case "image":
      return vscode.LanguageModelDataPart.image(Buffer.from(part.data, "base64"), part.mediaType);
    case "toolCall":
      return new vscode.LanguageModelToolCallPart(part.callId, part.name, JSON.parse(part.input) as object);
    case "toolResult":
      return new vscode.LanguageModelToolResultPart(part.callId, [new vscode.LanguageModelTextPart(part.text)]);
  }
}

/** Undefined for what is none of the reply: data that only its vendor understands. */
function replyPart(part: unknown): ReplyPart | undefined {
  if (part instanceof vscode.LanguageModelTextPart) {
    return { kind: "text", text: textOf(part.value) };
  }
  if (part instanceof vscode.LanguageModelToolCallPart) {
    return { kind: "toolCall", callId: textOf(part.callId), name: textOf(part.name), input: inputAsJson(part.input) };
  }
  if (ThinkingPart !== undefined && part instanceof ThinkingPart) {
    return { kind: "thinking", text: [part.value].flat().join("") };
  }
  return undefined;
}

async function count({ model: id, texts }: Count[0], token: CancellationToken): Promise<Count[1]> {
  const model = await modelOf(id);
  const counts = texts.map(async (text) => {
    try {
      return model === undefined || token.isCancellationRequested ? 0 : countOf(await model.countTokens(text));
    } catch {
      return 0; // the server goes by its estimate
    }
  });
  return { counts: await Promise.all(counts) };
}
