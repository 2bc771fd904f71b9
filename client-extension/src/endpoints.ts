/** Servers that may offer models, and what they offer in words. No VS Code in here. */

import { formatTokens } from "./format";
import type { OfferedModel } from "./protocol";

/** A server that people run on their own machine, at the port that it takes by itself. */
export interface LocalServer {
  name: string;
  address: string;
}

export const LOCAL_SERVERS: readonly LocalServer[] = [
  { name: "Ollama", address: "http://127.0.0.1:11434" },
  { name: "LM Studio", address: "http://127.0.0.1:1234" },
  { name: "llama.cpp", address: "http://127.0.0.1:8080" },
  { name: "vLLM", address: "http://127.0.0.1:8000" },
  { name: "LiteLLM", address: "http://127.0.0.1:4000" },
];

/** What is wrong with an address; undefined where it can be tried. */
export function addressProblem(typed: string): string | undefined {
  const address = typed.trim();
  if (address === "") {
    return "An address is needed, such as http://127.0.0.1:8080";
  }
  try {
    const { protocol, hostname } = new URL(address);
    return (protocol === "http:" || protocol === "https:") && hostname !== "" ? undefined : "It begins with http:// or https://";
  } catch {
    return "This is no web address. It looks like http://127.0.0.1:8080";
  }
}

/** What is wrong with a key for Anthropic's own endpoint; undefined where it can be tried. */
export function keyProblem(typed: string): string | undefined {
  const key = typed.trim();
  if (/\s/.test(key)) {
    return "A key has no spaces in it";
  }
  return key.startsWith("sk-ant-") || key === "" ? undefined : "A key of Anthropic begins with sk-ant-";
}

/** `1M window · $4 in, $20 out per million tokens`: what is known of it. */
export function offerInWords({ window, prices }: OfferedModel): string {
  return [
    window == null ? "" : `${formatTokens(window)} window`,
    prices == null ? "" : `$${prices.input} in, $${prices.output} out per million tokens`,
  ]
    .filter(Boolean)
    .join(" · ");
}
