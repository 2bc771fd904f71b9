/**
 * The sentences of the server that users meet, as they stand in its code: what is in braces there has a name here. `serverTexts.ts` finds them in what
 * the server says. `tests/unit/test_texts_for_users.py` fails where one of them is no longer in the code, and where a sentence that users can meet is not
 * among them.
 */

import { APPROVALS_AND_RULES } from "./sentences/permissions";
import { CHANGES } from "./sentences/changes";
import { COMING_OVER } from "./sentences/comingOver";
import { COMMANDS_AND_SETTINGS } from "./sentences/commands";
import { COMPACTION } from "./sentences/compaction";
import { CLOUDS } from "./sentences/clouds";
import { HOOKS } from "./sentences/hooks";
import { MCP } from "./sentences/mcp";
import { MODELS } from "./sentences/models";
import { SESSIONS } from "./sentences/store";
import { TURNS } from "./sentences/turns";

export const SERVER_SENTENCES: readonly string[] = [
  ...APPROVALS_AND_RULES,
  ...COMING_OVER,
  ...COMMANDS_AND_SETTINGS,
  ...CLOUDS,
  ...MODELS,
  ...COMPACTION,
  ...CHANGES,
  ...HOOKS,
  ...SESSIONS,
  ...TURNS,
  ...MCP,
];
