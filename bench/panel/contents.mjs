/** What a model or a tool may write that is hard to draw while it streams, and conversations that are long. */

import { AT, bash, edit } from "../../tests/extension/preview/items.mjs";

/** Stands at the end of every text, so that one sees when it is drawn. */
export const MARK = "THE-LAST-WORD";

/** Characters of each text: 22 s at a thousand tokens a second, of some four characters each. */
const LENGTH = 59_000;

/** @param {string} line with # for its number @param {number} [length] @returns {string} */
const lines = (line, length = LENGTH) => {
  let text = "";
  for (let number = 1; text.length < length; number += 1) text += line.replaceAll("#", String(number));
  return text;
};

const CODE = "    total_# = table.volume(dip, #) if dip > # else None  # litres\n";
const MIXED = [
  "## Step #\n\nThe *height* is doubled in [`tank.py`](tankgauge/tank.py#L18): `volume` reads the strapping table with `dip * 2`.\n\n",
  "```python\ndef volume_#(self, dip: float) -> float:\n    height = self.table.height(dip)\n    return self.table.litres(height)\n```\n\n",
  "1. read the table with `dip`, and\n2. leave the tables **alone**.\n   - at #\n\n| Tank | Before | After |\n|:--|--:|--:|\n| east | # | 1,250 |\n| north | 3,180 | # |\n\n",
].join("");

/**
 * @typedef {object} Content
 * @property {string} name
 * @property {"assistant" | "thinking" | "output" | "input"} into
 * @property {string} text
 */

/** @type {Content[]} */
export const CONTENTS = [
  { name: "one fenced block", into: "assistant", text: `\`\`\`python\n${lines(CODE)}# ${MARK}\n\`\`\`\n` },
  { name: "one line without an end", into: "assistant", text: `${lines("word# ")}${MARK}` },
  { name: "one paragraph with marks", into: "assistant", text: `${lines("The **tank** # holds `litres` and [more](a.py), ")}${MARK}` },
  {
    name: "one table",
    into: "assistant",
    text: `| Tank | Before | After |\n|:--|--:|--:|\n${lines("| tank # | **#** litres | `1,250` |\n")}| ${MARK} |\n`,
  },
  {
    name: "one nested list",
    into: "assistant",
    text: `${lines("- tank # is *full*\n  - its `gauge` says #\n    - and so does the book\n")}- ${MARK}`,
  },
  { name: "deep quotes", into: "assistant", text: `${lines("> > > > The gauge # said that the **tank** was full.\n")}> > > > ${MARK}` },
  {
    name: "a fenced block in a list",
    into: "assistant",
    text: `1. Do this:\n\n   \`\`\`python\n${lines(`   ${CODE}`)}   # ${MARK}\n   \`\`\`\n`,
  },
  { name: "many short paragraphs", into: "assistant", text: `${lines("Tank # is full.\n\n")}${MARK}` },
  { name: "mixed Markdown", into: "assistant", text: `${lines(MIXED)}${MARK}` },
  { name: "thinking, unfolded", into: "thinking", text: `${lines("The tank # holds more than it should. ")}${MARK}` },
  { name: "a tool's output", into: "output", text: `${lines("tests/test_tank.py::test_volume_# \u001b[32mPASSED\u001b[0m\n")}${MARK}` },
  { name: "a tool's input", into: "input", text: `{"path": "tank.py", "content": "${lines("    total_# = 1\\n")}${MARK}` },
];

/** Every so many items there is one of these: an edit, a plan that was accepted, going back, a compaction. */
const RARE = { edit: 20, plan: 700, goneBack: 900, compaction: 1_000 };

/** Files that a turn changed, and files that are open. */
const FILES_OF_TURN = 4;
const OPEN_FILES = 60;

/**
 * A conversation of so many items, as it is after weeks: turns with changes and their costs, plans, a compaction now and then, and going back.
 *
 * @param {number} count @returns {any[]}
 */
export function longConversation(count) {
  return Array.from({ length: count }, (_, index) => {
    const at = AT + index;
    if (index % RARE.compaction === RARE.compaction - 1) return { ...compaction, id: `c${index}`, at };
    if (index % RARE.goneBack === RARE.goneBack - 1) {
      return {
        kind: "notice",
        id: `n${index}`,
        at,
        level: "info",
        action: "none",
        text: "Forked here from “The tank”, which stays as it is.",
      };
    }
    if (index % RARE.plan === RARE.plan - 1) {
      const text = lines("- [ ] Step # of the plan\n", 900);
      return {
        ...bash,
        id: `x${index}`,
        at,
        name: "propose_plan",
        toolKind: "think",
        title: "Plan: the tank",
        input: "{}",
        output: `Accepted.\n\n${text}`,
      };
    }
    if (index % RARE.edit === 2) return { ...edit, id: `e${index}`, at };
    switch (index % 5) {
      case 0: {
        const text = `Prompt ${index}: why is the tank full?`;
        return { kind: "user", id: `p${index}`, at, text, attachments: [], queued: false, turnCost: COST };
      }
      case 2:
        return { ...bash, id: `t${index}`, at, output: lines(`line # of ${index}\n`, 400) };
      case 3:
        return { kind: "thinking", id: `h${index}`, at, text: `Thought ${index}.` };
      default:
        return { kind: "assistant", id: `r${index}`, at, text: `Answer ${index}. ${lines(MIXED, 200 + ((index * 37) % 900))}` };
    }
  });
}

const COST = { calls: 3, input: 1_200, cacheRead: 96_000, cacheWrite: 2_100, output: 840, dollars: 0.07 };
const compaction = {
  kind: "compaction",
  status: "completed",
  trigger: "threshold",
  way: "model",
  tokensBefore: 142_000,
  tokensAfter: 38_000,
  summary: lines("- The tank # was measured.\n", 2_000),
  restored: [],
  cleared: 3,
  snipped: 0,
  summarised: 40,
  focus: "",
  skipped: [],
  error: "",
};

/** @param {number} number @returns {any} */
const changedFile = (number) => ({
  path: `tankgauge/part${number}.py`,
  uri: `file:///part${number}.py`,
  status: "modified",
  added: 12,
  removed: number % 7,
});

/** What the panel draws beside the items: open changes and a task list that is under way. */
export const BESIDE = {
  changes: {
    files: Array.from({ length: OPEN_FILES }, (_, number) => changedFile(number)),
    count: OPEN_FILES,
    added: 12 * OPEN_FILES,
    removed: 180,
  },
  plan: Array.from({ length: 12 }, (_, number) => ({
    content: `Step ${number} of the plan`,
    status: number < 5 ? "completed" : number === 5 ? "in_progress" : "pending",
  })),
};

/** What each turn of a conversation changed. @param {any[]} items @returns {any[]} */
export function turnsOf(items) {
  return items
    .filter(({ kind }) => kind === "user")
    .map(({ id, at, text }, index) => ({
      turnId: id,
      title: text,
      at,
      files: Array.from({ length: FILES_OF_TURN }, (_, number) => changedFile(index + number)),
      uncovered: [],
    }));
}
