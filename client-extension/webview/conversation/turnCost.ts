/** What a turn cost: one quiet line below its last item. Which item that is, and what the line says, is pure. */

import { formatDollars, formatTokens, formatTokensExactly } from "../../src/format";
import { plural, t } from "../../src/l10n";
import type { Item, NewestTurn, TurnCost } from "../../src/protocol";
import { element, setChildren } from "../dom";

/** What turns cost, by the ids of their last items. */
export type Costs = ReadonlyMap<string, TurnCost>;

export const NO_COSTS: Costs = new Map();

/** Of all turns that have ended. @param newest the turn in whose midst the items begin, if that is the newest. */
export function costsOf(items: readonly Item[], newest: NewestTurn | undefined): Costs {
  const costs = new Map<string, TurnCost>();
  let cost = newest?.turnCost ?? undefined;
  let last: Item | undefined;
  const end = () => {
    if (cost !== undefined && last !== undefined) {
      costs.set(last.id, cost);
    }
  };
  // A newer turn than the one in whose midst the items began has begun: what was there before its prompt is of that one all the same.
  for (const item of items) {
    if (item.kind === "user") {
      if (item.queued || (item.steering === true && item.turnCost == null)) {
        continue;
      }
      end();
      cost = item.turnCost ?? undefined;
      last = undefined;
    } else if (item.kind === "assistant" || item.kind === "toolCall" || (item.kind === "notice" && last === undefined)) {
      last = item;
    }
  }
  end();
  return costs;
}

interface CostInWords {
  /** Such as `$0.07 · 312 in · 48k cached · 2.1k written · 1.2k out`. */
  line: string;
  /** The same in full, with what is particular. */
  full: string;
}

/** What the line says. Without a price it says so. */
export function costInWords(cost: TurnCost): CostInWords {
  const { calls, unpriced, unreported, compactions, agents } = cost;
  const dollars = unpriced != null && cost.cost != null ? t("{dollars} + price unknown", { dollars: price(cost.cost) }) : price(cost.cost);
  const silent =
    unreported == null
      ? ""
      : plural(unreported, t("{count} reply did not report what it cost"), t("{count} replies did not report what they cost"));
  if (calls === 0) {
    return { line: t("cost not reported"), full: silent };
  }
  const line = [dollars, ...tokensInWords(cost, formatTokens), ...(silent === "" ? [] : [t("not all reported")])].join(" · ");
  const full = [
    plural(calls, t("This turn: {count} call of the model, {dollars}"), t("This turn: {count} calls of the model, {dollars}"), { dollars }),
    tokensInWords(cost, formatTokensExactly).join(" · "),
    t("In: sent anew. Cached: read from the prompt cache. Written: put into it."),
    compactions == null
      ? ""
      : plural(
          compactions,
          t("{count} of the calls was for a compaction: {dollars}"),
          t("{count} of the calls were for compactions: {dollars}"),
          { dollars: price(cost.compactionCost) },
        ),
    agents == null
      ? ""
      : plural(
          agents,
          t("With {count} sub-agent, whose calls are not counted here: {dollars}"),
          t("With {count} sub-agents, whose calls are not counted here: {dollars}"),
          { dollars: price(cost.agentCost) },
        ),
    unpriced != null && cost.cost != null
      ? plural(
          unpriced,
          t("{count} of the calls has no known price and is not in the dollars"),
          t("{count} of the calls have no known price and are not in the dollars"),
        )
      : "",
    silent,
  ];
  return { line, full: full.filter(Boolean).join("\n") };
}

function price(dollars: number | null | undefined): string {
  return dollars == null ? t("price unknown") : formatDollars(dollars);
}

function tokensInWords({ input, cacheRead, cacheWrite, output }: TurnCost, format: (tokens: number) => string): string[] {
  return [
    ...(input > 0 ? [t("{tokens} in", { tokens: format(input) })] : []),
    ...(cacheRead > 0 ? [t("{tokens} cached", { tokens: format(cacheRead) })] : []),
    ...(cacheWrite > 0 ? [t("{tokens} written", { tokens: format(cacheWrite) })] : []),
    t("{tokens} out", { tokens: format(output) }),
  ];
}

/** The line at the end of a turn. */
export class CostLine {
  readonly element = element("div", { className: "turn-cost", attributes: { role: "note" } });
  private drawn: TurnCost | undefined;

  update(cost: TurnCost | undefined): void {
    this.element.hidden = cost === undefined;
    if (cost !== this.drawn && cost !== undefined) {
      const { line, full } = costInWords(cost);
      setChildren(this.element, element("span", { textContent: line }));
      this.element.title = full;
      this.element.setAttribute("aria-label", full);
    }
    this.drawn = cost;
  }
}
