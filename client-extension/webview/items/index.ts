/** Which view draws which kind of item. */

import type { Item } from "../../src/protocol";
import type { Actions } from "../actions";
import { CostLine } from "../conversation/turnCost";
import { TurnLine } from "../conversation/turnChanges";
import { makeAssistantView, makeNoticeView, makeThinkingView, makeUserView } from "./texts";
import { makeCompactionView } from "./compaction";
import { type ItemView, type MarkedView, Marking } from "./itemView";
import { makeToolCallView } from "./toolCall";

/** Kinds that can be pinned and excluded. */
const MARKED = new Set<Item["kind"]>(["user", "assistant", "toolCall"]);

/** The view of an item, drawn once; `update` draws it anew. */
export function makeItemView(item: Item, actions: Actions): MarkedView {
  const view = makeView(item, actions);
  view.element.dataset.itemId = item.id;
  view.element.dataset.kind = item.kind;
  let line: TurnLine | undefined;
  let cost: CostLine | undefined;
  const marking = MARKED.has(item.kind) ? new Marking(view.element, item, actions) : undefined;
  return {
    element: view.element,
    update: (next) => {
      view.update(next);
      marking?.update(next);
    },
    mark: (mark) => {
      marking?.show(mark);
      view.showAbout?.(mark.about);
    },
    changed: (began, ended) => {
      marking?.showWayBack(began);
      if (line === undefined && ended !== undefined) {
        line = new TurnLine(actions);
        view.element.insertBefore(line.element, cost?.element ?? null);
      }
      line?.update(ended);
      if (line !== undefined) {
        line.element.hidden = ended === undefined;
      }
    },
    cost: (ended) => {
      if (cost === undefined && ended !== undefined) {
        cost = new CostLine();
        view.element.append(cost.element);
      }
      cost?.update(ended);
    },
  };
}

function makeView(item: Item, actions: Actions): ItemView {
  switch (item.kind) {
    case "user":
      return makeUserView(item, actions);
    case "assistant":
      return makeAssistantView(item, actions);
    case "thinking":
      return makeThinkingView(item, actions);
    case "toolCall":
      return makeToolCallView(item, actions);
    case "compaction":
      return makeCompactionView(item, actions);
    case "notice":
      return makeNoticeView(item, actions);
  }
}
