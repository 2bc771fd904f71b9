/** What a model or a tool may write that is hard to draw while it streams, and conversations that are long. */

import { AT, bash } from "../../tests/extension/preview/items.mjs";

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

/** A conversation of so many items, as it is after weeks. @param {number} count @returns {any[]} */
export function longConversation(count) {
  return Array.from({ length: count }, (_, index) => {
    const at = AT + index;
    switch (index % 5) {
      case 0:
        return { kind: "user", id: `p${index}`, at, text: `Prompt ${index}: why is the tank full?`, attachments: [], queued: false };
      case 2:
        return { ...bash, id: `t${index}`, at, output: lines(`line # of ${index}\n`, 400) };
      case 3:
        return { kind: "thinking", id: `h${index}`, at, text: `Thought ${index}.` };
      default:
        return { kind: "assistant", id: `r${index}`, at, text: `Answer ${index}. ${lines(MIXED, 200 + ((index * 37) % 900))}` };
    }
  });
}
