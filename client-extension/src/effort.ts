/** The words for how much work a model puts into its answers. No VS Code in here. */

import type { Effort, ModelInfo } from "./protocol";

const IN_WORDS: Record<Effort | "default", readonly [label: string, detail: string]> = {
  default: ["Default", "As much as the model takes by itself"],
  low: ["Low", "Quickest and cheapest, for simple tasks"],
  medium: ["Medium", "Less time and cost than high, for everyday tasks"],
  high: ["High", "Thorough, for difficult tasks"],
  xhigh: ["Extra high", "More than high, for long tasks of many steps"],
  max: ["Maximum", "All that the model can do, whatever it costs"],
};

export interface EffortChoice {
  effort: Effort | "default";
  label: string;
  detail: string;
  isCurrent: boolean;
}

/** What can be chosen for that model, least first; empty where it takes no effort. */
export function effortChoices({ efforts, effort }: Pick<ModelInfo, "efforts" | "effort">): EffortChoice[] {
  if (!efforts?.length) {
    return [];
  }
  const current = effort ?? "default";
  return (["default", ...efforts] as const)
    .filter((each) => each in IN_WORDS)
    .map((each) => ({ effort: each, label: IN_WORDS[each][0], detail: IN_WORDS[each][1], isCurrent: each === current }));
}

/** The effort that is asked for, in a word or two; empty where the model takes none. */
export function effortLabel(model: Pick<ModelInfo, "efforts" | "effort">): string {
  return effortChoices(model).find(({ isCurrent }) => isCurrent)?.label ?? "";
}
