/** Which view draws which kind of item. */

import type { Item } from "../../src/protocol";
import type { Actions } from "../actions";
import { makeAssistantView } from "./assistant";
import { makeCompactionView } from "./compaction";
import type { ItemView } from "./itemView";
import { makeNoticeView } from "./notice";
import { makeThinkingView } from "./thinking";
import { makeToolCallView } from "./toolCall";
import { makeUserView } from "./user";

/** The view of an item, drawn once; `update` draws it anew. */
export function makeItemView(item: Item, actions: Actions): ItemView {
  const view = makeView(item, actions);
  view.element.dataset.itemId = item.id;
  view.element.dataset.kind = item.kind;
  return view;
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
