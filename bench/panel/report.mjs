/** PANEL.md: the figures of a run as tables. */

/**
 * @typedef {object} OfBuild what was measured at one build of the panel
 * @property {string} name
 * @property {number[]} idle milliseconds of keys while nothing happens
 * @property {({name: string} & import("./measures.mjs").Streamed)[]} contents
 * @property {import("./measures.mjs").Scrolled | undefined} long
 */

/**
 * @typedef {object} Run
 * @property {OfBuild[]} all
 * @property {import("./reload.mjs").Reloaded[]} reloads
 * @property {string} machine
 * @property {number} messages
 * @property {number} seconds
 */

/** @param {Run} run @returns {string} */
export function report({ all, reloads, machine, messages, seconds }) {
  return [
    "# The panel",
    "",
    "Written by `npm run bench -- panel`: figures to look at, from one run on one machine. The built panel stands in a frame beside a text box in which",
    "somebody types, on the same main thread, as in VS Code for the web.",
    "",
    `${new Date().toISOString().slice(0, 10)}, ${machine}. Milliseconds. Keys, from the key to its frame, while nothing happens: ${all
      .map(({ name, idle }) => `${name} ${median(idle)} (p95 ${at(idle, 0.95)})`)
      .join(", ")}.`,
    "",
    "## While 59,000 characters stream in, 140 pieces and a thousand tokens a second",
    "",
    "*lag*: from the last piece to the frame that shows it. *frames over 50*: how many, and the longest. *keys*: median and 95th percentile.",
    "*task*: the longest of the page's main thread, in CPU time, which does not come and go with what else runs; a frame has 16.7.",
    "",
    ...streamTable(all),
    "",
    `## A conversation of ${messages.toLocaleString("en-US")} messages, scrolled back for twice ${seconds} s`,
    "",
    "Its turns have costs and changed files, there are edits with their diffs, plans, compactions and places where somebody went back. 60 files are open",
    "to review above the prompt box, and a task list is under way.",
    "",
    ...longTable(all),
    "",
    "## A reload of the window",
    "",
    "VS Code for the web with the packaged extension, from the reload on. *shown*: the conversation is seen. *ready*: a prompt can be sent. From",
    "activation to the start of the server it is mostly VS Code that works: all extensions activate at once and wait for its window.",
    "",
    ...reloadTable(reloads),
    "",
  ].join("\n");
}

/** @param {OfBuild[]} all */
function streamTable(all) {
  const head = [
    "what streams in",
    ...all.flatMap(({ name }) => ["lag", "frames over 50", "task", "keys", "nodes"].map((what) => `${what}, ${name}`)),
  ];
  const rows = (all[0]?.contents ?? []).map(({ name }, index) => [
    name,
    ...all.flatMap(({ contents }) => {
      const one = contents[index];
      if (one === undefined) return ["", "", "", "", ""];
      const slow = one.frames.filter((frame) => frame > 50);
      const frames = slow.length === 0 ? "0" : `${slow.length} (${at(one.frames, 1)})`;
      return [one.lag.toFixed(0), frames, one.worked.longest.toFixed(1), `${median(one.keys)} / ${at(one.keys, 0.95)}`, String(one.nodes)];
    }),
  ]);
  return table(head, rows);
}

/** @param {OfBuild[]} all */
function longTable(all) {
  const of = (/** @type {(long: import("./measures.mjs").Scrolled) => string} */ figure) =>
    all.map(({ long }) => (long === undefined ? "" : figure(long)));
  return table(
    ["", ...all.map(({ name }) => name)],
    [
      ["opened", ...of(({ opened }) => opened.toFixed(0))],
      ["messages passed", ...of(({ passed }) => String(passed))],
      ["nodes at first, at most, at last", ...of(({ nodesAtFirst, nodesMost, nodes }) => `${nodesAtFirst}, ${nodesMost}, ${nodes}`)],
      ["heap at last, MB", ...of(({ heap }) => (heap / 1e6).toFixed(1))],
      ["frames over 50", ...of(({ frames }) => `${frames.filter((frame) => frame > 50).length} of ${frames.length} (${at(frames, 1)})`)],
      ["longest task, wheel (7,200 pixels a second)", ...of(({ wheel }) => wheel.longest.toFixed(1))],
      ["tasks over a frame, wheel", ...of(({ wheel }) => `${wheel.over} of ${wheel.tasks}`)],
      ["longest task, bar (36,000 pixels a second)", ...of(({ dragged }) => dragged.longest.toFixed(1))],
      ["tasks over a frame, bar", ...of(({ dragged }) => `${dragged.over} of ${dragged.tasks}`)],
      ["a message of long ago shown", ...of(({ found }) => found.toFixed(0))],
    ],
  );
}

/** @param {import("./reload.mjs").Reloaded[]} reloads */
function reloadTable(reloads) {
  const part = (/** @type {keyof import("./reload.mjs").Reloaded} */ name) => reloads.map((reload) => String(reload[name] ?? ""));
  return table(
    ["", ...reloads.map((_, index) => `reload ${index + 1}`)],
    [
      ["workbench there", ...part("workbench")],
      ["our activation begins", ...part("activating")],
      ["the server is started", ...part("starting")],
      ["conversation shown", ...part("shown")],
      ["ready", ...part("ready")],
      [
        "from the start of the server until ready",
        ...reloads.map(({ starting, ready }) => (starting === undefined ? "" : String(ready - starting))),
      ],
    ],
  );
}

/** @param {number[]} values */
function median(values) {
  return at(values, 0.5);
}

/** @param {number[]} values @param {number} share */
function at(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0);
}

/** @param {string[]} head @param {string[][]} rows */
function table(head, rows) {
  const lines = [head, ["---", ...head.slice(1).map(() => "---:")], ...rows];
  return lines.map((line) => `| ${line.join(" | ")} |`);
}
