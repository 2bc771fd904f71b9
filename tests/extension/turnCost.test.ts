/** The cost of a turn: at which item it stands, and its words. */

import "./dom";
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TurnCost } from "../../client-extension/src/protocol";
import { CostLine, costInWords, costsOf } from "../../client-extension/webview/conversation/turnCost";
import { INITIAL_STATE, reduce } from "../../client-extension/webview/state";
import { assistant, snapshot, toolCall, update, user } from "./samples";

const cost = (changes: Partial<TurnCost> = {}): TurnCost => ({
  calls: 3,
  input: 312,
  cacheRead: 48_210,
  cacheWrite: 2_104,
  output: 1_187,
  cost: 0.0731,
  ...changes,
});

void describe("where it stands", () => {
  test("at the last item of its turn, and not before the turn has ended", () => {
    const items = [user("p1", { turnCost: cost() }), assistant("a1", "x"), toolCall("t1"), user("p2"), assistant("a2", "y")];
    assert.deepEqual([...costsOf(items, undefined)], [["t1", cost()]]);
  });

  test("a prompt that joined the turn does not end it", () => {
    const items = [user("p1", { turnCost: cost() }), assistant("a1", "x"), user("p2", { steering: true }), assistant("a2", "y")];
    assert.deepEqual([...costsOf(items, undefined).keys()], ["a2"]);
  });

  test("a turn whose prompt is not loaded has it from the snapshot, and from an update later", () => {
    const first = reduce(INITIAL_STATE, {
      type: "snapshot",
      snapshot: snapshot({ items: [assistant("a1", "x")], earlier: 300, turn: { promptId: "p1" } }),
    });
    assert.equal(costsOf(first.session?.items ?? [], first.session?.turn ?? undefined).size, 0);
    const ended = user("p1", { at: 0, turnCost: cost() });
    const { session } = reduce(first, { type: "update", params: update(1, { kind: "item", item: ended }) });
    assert.deepEqual([...costsOf(session?.items ?? [], session?.turn ?? undefined).keys()], ["a1"]);
  });
});

void describe("in words", () => {
  test("dollars and tokens by price class", () => {
    assert.equal(costInWords(cost()).line, "$0.07 · 312 in · 48k cached · 2.1k written · 1.2k out");
    assert.match(costInWords(cost()).full, /48,210 cached · 2,104 written/);
  });

  test("what is not known is said", () => {
    assert.match(costInWords(cost({ cost: null, unpriced: 3 })).line, /^price unknown · /);
    assert.match(costInWords(cost({ unpriced: 1 })).line, /^\$0\.07 \+ price unknown · /);
    assert.match(costInWords(cost({ unreported: 1 })).line, / · not all reported$/);
    assert.equal(costInWords(cost({ calls: 0, cost: null, unreported: 2 })).line, "cost not reported");
    assert.match(costInWords(cost({ compactions: 1, compactionCost: 0.012 })).full, /1 of the calls was for a compaction: \$0\.01/);
  });

  test("the line is drawn once, and hidden where there is nothing", () => {
    const line = new CostLine();
    line.update(cost());
    assert.match(line.element.textContent ?? "", /^\$0\.07/);
    line.update(undefined);
    assert.equal(line.element.hidden, true);
  });
});
