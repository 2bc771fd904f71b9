/** What the preview shows: messages for the panel, and what is done in it before the picture is taken. */

const AT = 1_795_200_000;

const gauge = {
  used: 97_400,
  line: 167_000,
  size: 200_000,
  estimated: false,
  level: "normal",
  categories: [
    { name: "system", tokens: 3_100 },
    { name: "tools", tokens: 4_900 },
    { name: "rules", tokens: 1_200 },
    { name: "user", tokens: 6_300 },
    { name: "assistant", tokens: 21_900 },
    { name: "tool results: read_file", tokens: 34_000 },
    { name: "tool results: bash", tokens: 26_000 },
  ],
  cacheHitRate: 0.93,
  cost: 0.4172,
  frees: 71_000,
  freesCost: 0.05,
  auto: true,
  policy: "ullage",
  measure: "usage",
};

const session = {
  sessionId: "s1",
  seq: 1,
  title: "Fix the failing test",
  state: "idle",
  items: [],
  earlier: 0,
  plan: [],
  gauge,
  model: { name: "claude-opus-5-5", displayName: "Claude Opus 5.5", practice: false, limitsSource: "Models API" },
};

const practice = { name: "practice", displayName: "Practice model", practice: true, limitsSource: "practice" };
const running = { type: "server", status: { state: "running" } };
/** @param {object} fields */
const shows = (fields) => [running, { type: "snapshot", snapshot: { ...session, ...fields } }];

const user = {
  kind: "user",
  id: "p1",
  at: AT,
  text: "The test in tests/test_tank.py fails. Find out why and fix it, please.",
  attachments: ["test_tank.py"],
  queued: false,
};
const thinking = { kind: "thinking", id: "r1.0", at: AT, text: "The test expects 1,250 litres; the table gives **twice** that." };
const bash = {
  kind: "toolCall",
  id: "t1",
  at: AT,
  name: "bash",
  title: "$ python -m pytest -q",
  toolKind: "execute",
  status: "completed",
  input: '{"command": "python -m pytest -q"}',
  output:
    "..F...........\n=== FAILURES ===\ntest_volume_at_dip\n    assert tank.volume(50) == 1250\nE   assert 2500 == 1250\n1 failed, 13 passed in 0.08s\n",
  fullOutput: ".ullage/tool-results/t1.txt",
};
const read = {
  ...bash,
  id: "t2",
  name: "read_file",
  title: "Read tankgauge/tank.py",
  toolKind: "read",
  input: '{"path": "tankgauge/tank.py"}',
  output: "1 class Tank:",
  fullOutput: null,
};
const search = {
  ...bash,
  id: "t3",
  name: "search",
  title: "Search “volume(” in tankgauge",
  toolKind: "search",
  status: "running",
  input: '{"pattern": "volume("}',
  output: "tankgauge/report.py:12: total += tank.volume(dip)\n",
  fullOutput: null,
};
const answer = {
  kind: "assistant",
  id: "r1.1",
  at: AT,
  text: [
    "The height is doubled in [`tank.py`](tankgauge/tank.py#L18): `volume` reads the strapping table with `dip * 2`, which was right while the tables held half heights.",
    "",
    "```python",
    "def volume(self, dip: float) -> float:",
    '    """Litres at this dip (centimetres)."""',
    "    height = self.table.height(dip * 2)  # wrong since the tables hold whole heights",
    "    return self.table.litres(height)",
    "```",
    "",
    "Two ways to mend it:",
    "",
    "1. read the table with `dip`, and",
    "2. leave the tables alone.",
    "",
    "| Tank | Before | After |",
    "|:--|--:|--:|",
    "| east | 2,500 | 1,250 |",
    "| north | 3,180 | 1,590 |",
  ].join("\n"),
};
const edit = {
  kind: "toolCall",
  id: "t4",
  at: AT,
  name: "edit_file",
  title: "Edit tankgauge/tank.py",
  toolKind: "edit",
  status: "completed",
  input: "{}",
  output: "Edited",
  diff: {
    path: "tankgauge/tank.py",
    oldText:
      "class Tank:\n    name: str\n\n    def volume(self, dip):\n        height = self.table.height(dip * 2)\n        return self.table.litres(height)\n\n    def __str__(self):\n        return self.name\n",
    newText:
      "class Tank:\n    name: str\n\n    def volume(self, dip: float) -> float:\n        height = self.table.height(dip)\n        return self.table.litres(height)\n\n    def __str__(self):\n        return self.name\n",
  },
};
const approval = {
  ...edit,
  id: "t5",
  status: "awaiting_permission",
  output: "",
  permission: [
    { optionId: "allow_once", name: "Allow once", kind: "allow_once" },
    { optionId: "allow_always", name: "Always allow edits in tankgauge/", kind: "allow_always" },
    { optionId: "reject_once", name: "Refuse", kind: "reject_once" },
  ],
  permissionReason: "Edit tankgauge/tank.py?",
};
const bashApproval = {
  ...approval,
  id: "t6",
  name: "bash",
  title: "$ python -m pytest -q tests/test_tank.py",
  toolKind: "execute",
  input: '{"command": "python -m pytest -q tests/test_tank.py"}',
  diff: null,
  permissionReason: "Run a command in the workspace?",
};
const compaction = {
  kind: "compaction",
  id: "c1",
  at: AT,
  status: "completed",
  trigger: "threshold",
  rung: "model",
  tokensBefore: 168_034,
  tokensAfter: 31_250,
  summary:
    "## What the user asked for\nThe test in `tests/test_tank.py` fails. Find out why and fix it, please.\n\n## Decisions\n- The tables hold whole heights; `dip` is not doubled.\n\n## Next step\nRun the tests again.",
  restored: [
    { path: "tankgauge/tank.py", note: "whole, with unsaved text" },
    { path: "tankgauge/table.py", note: "outline" },
  ],
  cleared: 4,
  snipped: 12,
  summarised: 96,
  focus: "the strapping table",
  skipped: ["The cheap moves freed too little"],
  cost: 0.0421,
  error: "",
};
const plan = [
  { content: "Run the tests", status: "completed" },
  { content: "Correct the height in tank.py", status: "in_progress" },
  { content: "Run them again", status: "pending" },
];
const notice = {
  kind: "notice",
  id: "n1",
  at: AT,
  level: "error",
  text: "The key was not accepted (401). Set another one, or choose another server.",
  action: "set_key",
};

const conversation = [
  user,
  thinking,
  bash,
  read,
  answer,
  compaction,
  { ...user, id: "p2", text: "Now the north tank, please.", attachments: [] },
  { ...answer, id: "r2.0", text: "The north tank reads the same table." },
  {
    ...compaction,
    id: "c2",
    trigger: "manual",
    rung: "moves",
    policy: "user",
    cleared: 1,
    snipped: 0,
    summarised: 0,
    summary: "",
    restored: [],
    skipped: [],
    cost: null,
    focus: "",
  },
];
const pins = { itemIds: ["p1", "t2"], paths: ["tankgauge/tank.py", "docs/datum.md"] };
const preview = {
  policy: "ullage",
  rung: "model",
  tokensBefore: 142_000,
  tokensAfter: 38_200,
  line: 167_000,
  cost: { summary: 0.14, nextBefore: 0.071, nextAfter: 0.21, laterBefore: 0.071, laterAfter: 0.019 },
  summary: "## What the user asked for\n\nThe test in `tests/test_tank.py` fails.\n\n## Files\n\n- `tankgauge/tank.py`: edited",
  restored: [
    { path: "tankgauge/tank.py", note: "whole, with unsaved text" },
    { path: "tankgauge/table.py", note: "outline" },
  ],
  lines: [
    {
      itemId: "p1",
      role: "user",
      title: "The test in tests/test_tank.py fails. Find out why and fix it, please.",
      tokensBefore: 41,
      tokensAfter: 41,
      fate: "pinned",
    },
    { itemId: "t1", role: "tool", title: "$ python -m pytest -q", tokensBefore: 5210, tokensAfter: 0, fate: "summarised" },
    { itemId: "t2", role: "tool", title: "Read tankgauge/tank.py", tokensBefore: 12_900, tokensAfter: 41, fate: "cleared" },
    { role: "record", title: "Record of an earlier compaction", tokensBefore: 4100, tokensAfter: 0, fate: "summarised" },
    ...Array.from({ length: 300 }, (_, index) => ({
      itemId: `r${index}`,
      role: index % 2 === 0 ? "assistant" : "tool",
      title: index % 2 === 0 ? "The height is doubled in tank.py" : "Search “volume(” in tankgauge",
      tokensBefore: 400 + index,
      tokensAfter: index < 250 ? 0 : 400 + index,
      fate: index < 250 ? "summarised" : "kept",
    })),
  ],
};
const epochs = {
  epochs: [
    { number: 1, at: AT - 9000, current: false, requests: 61, cost: 1.92 },
    {
      number: 2,
      at: AT - 4000,
      current: false,
      requests: 40,
      compactionId: "c1",
      status: "active",
      trigger: "threshold",
      rung: "model",
      policy: "ullage",
      tokensBefore: 168_034,
      tokensAfter: 31_250,
      compactionCost: 0.14,
      cost: 1.25,
      restored: compaction.restored,
      cleared: 4,
      snipped: 0,
      summarised: 96,
    },
    {
      number: 3,
      at: AT - 2000,
      current: false,
      requests: 3,
      compactionId: "c0",
      status: "undone",
      trigger: "manual",
      rung: "digest",
      policy: "ullage",
      tokensBefore: 90_100,
      tokensAfter: 21_000,
      cost: 0.1,
      restored: [],
      cleared: 0,
      snipped: 0,
      summarised: 60,
    },
    {
      number: 4,
      at: AT - 100,
      current: true,
      requests: 1,
      compactionId: "c2",
      status: "active",
      trigger: "manual",
      rung: "moves",
      policy: "user",
      tokensBefore: 52_000,
      tokensAfter: 47_000,
      cost: 0.02,
      restored: [],
      cleared: 1,
      snipped: 0,
      summarised: 0,
    },
  ],
  fates: [
    { itemId: "p1", fate: "pinned", compactionId: "c1", role: "user", title: user.text },
    { itemId: "r1.1", fate: "summarised", compactionId: "c1", role: "assistant", title: "The height is doubled in tank.py" },
    { itemId: "t1", fate: "summarised", compactionId: "c1", role: "tool", title: "$ python -m pytest -q" },
    { itemId: "r2.0", fate: "snipped", compactionId: "c2", role: "assistant", title: "The north tank reads the same table." },
  ],
};

/** @param {import("playwright-core").Page} page @param {string} command */
async function type(page, command) {
  await page.locator(".prompt").fill(command);
  await page.keyboard.press("Enter");
}

/** @param {import("playwright-core").Page} page */
const openPreview = (page) => type(page, "/preview the strapping table");

/** @param {import("playwright-core").Page} page */
async function openTimeline(page) {
  await type(page, "/timeline");
  await page.locator(".epoch-fates summary").last().click();
}

/** @typedef {{name: string, messages: object[], answers?: Record<string, object>, refusals?: Record<string, {error: string, reason: string}>, theme?: "dark" | "light" | "contrast", width?: number, height?: number, act?: (page: import("playwright-core").Page) => Promise<void>}} Scene */

/** @type {Scene[]} */
export const SCENES = [
  { name: "starting", messages: [] },
  {
    name: "stopped",
    messages: [
      {
        type: "server",
        status: {
          state: "stopped",
          message: 'Python 3.11 or newer was not found. Install it, or set "ullage.server.interpreter", then restart the server.',
        },
      },
    ],
  },
  { name: "empty-practice", messages: shows({ title: "", gauge: { ...gauge, used: 0, categories: [] }, model: practice }) },
  { name: "empty-practice-light", theme: "light", messages: shows({ title: "", model: practice }) },
  { name: "streaming", messages: shows({ state: "running", items: [user, thinking, bash, read, answer, search], plan }) },
  {
    name: "streaming-light",
    theme: "light",
    messages: shows({ state: "running", items: [user, thinking, bash, read, answer, search], plan }),
  },
  {
    name: "streaming-contrast",
    theme: "contrast",
    messages: shows({ state: "running", items: [user, thinking, bash, read, answer, search], plan }),
  },
  { name: "approval", messages: shows({ state: "running", items: [user, bash, read, approval], model: practice }) },
  {
    name: "approval-command-narrow",
    width: 300,
    messages: shows({ state: "running", items: [user, read, bashApproval], model: practice }),
  },
  {
    name: "edited",
    messages: shows({
      items: [
        user,
        bash,
        edit,
        { ...bash, id: "t9", output: "14 passed in 0.03s\n" },
        { ...answer, id: "r2.0", text: "Fixed: `volume` reads the table with `dip`. All 14 tests pass." },
      ],
    }),
  },
  {
    name: "compaction",
    messages: shows({
      items: [
        user,
        answer,
        compaction,
        { ...compaction, id: "c2", status: "undone", trigger: "manual", rung: "digest" },
        {
          ...compaction,
          id: "c3",
          status: "in_progress",
          tokensAfter: null,
          summary: "",
          restored: [],
          cleared: 0,
          snipped: 0,
          summarised: 0,
          focus: "",
          skipped: [],
          cost: null,
          rung: null,
        },
      ],
    }),
    act: async (page) => page.locator(".compaction-details > summary").first().click(),
  },
  {
    name: "notices",
    messages: shows({
      items: [
        user,
        notice,
        { ...notice, id: "n2", level: "warning", text: "The turn was interrupted when the window was closed.", action: "continue" },
        { ...notice, id: "n3", level: "info", text: "AGENTS.md was read.", action: "none" },
        { ...compaction, status: "failed", error: "The summary was empty; nothing was changed." },
      ],
    }),
  },
  {
    name: "queue-retry",
    messages: shows({
      state: "running",
      retry: { attempt: 2, at: Date.now() / 1000 + 12, reason: "The endpoint is busy (529)" },
      items: [
        user,
        { ...user, id: "p2", text: "Then write a test for the north tank as well, with the readings of last week", queued: true },
      ],
      plan,
    }),
  },
  {
    name: "server-down",
    messages: [
      ...shows({ items: [user, answer] }),
      { type: "server", status: { state: "stopped", message: "The Ullage server keeps ending. What was said is kept." } },
    ],
  },
  {
    name: "slash-menu",
    messages: shows({ items: [user, answer] }),
    act: async (page) => page.locator(".prompt").pressSequentially("/co"),
  },
  {
    name: "mention-menu",
    messages: shows({ items: [user, answer] }),
    act: async (page) => page.locator(".prompt").pressSequentially("Look at @ta"),
  },
  {
    name: "context-card",
    messages: shows({ gauge: { ...gauge, used: 158_000, level: "error", estimated: true }, items: [user, answer] }),
    act: async (page) => page.locator(".meter").click(),
  },
  {
    name: "help-card-light",
    theme: "light",
    messages: shows({ items: [user, answer] }),
    act: async (page) => {
      await page.locator(".prompt").fill("/help");
      await page.keyboard.press("Enter");
    },
  },
  {
    name: "preview-sheet",
    messages: shows({ items: conversation, pins }),
    answers: { "ullage/session/previewCompaction": preview },
    act: openPreview,
  },
  {
    name: "preview-sheet-light-narrow",
    theme: "light",
    width: 300,
    messages: shows({ items: conversation, pins }),
    answers: { "ullage/session/previewCompaction": preview },
    act: openPreview,
  },
  {
    name: "preview-sheet-nothing",
    messages: shows({ items: conversation }),
    answers: { "ullage/session/previewCompaction": { ...preview, nothing: "There is nothing to compact yet" } },
    act: openPreview,
  },
  { name: "timeline-sheet", messages: shows({ items: conversation }), answers: { "ullage/session/epochs": epochs }, act: openTimeline },
  {
    name: "timeline-sheet-contrast",
    theme: "contrast",
    width: 300,
    messages: shows({ items: conversation }),
    answers: { "ullage/session/epochs": epochs },
    act: openTimeline,
  },
  {
    name: "marks",
    messages: shows({ items: conversation, pins }),
    answers: { "ullage/session/epochs": epochs },
    act: async (page) => page.locator('[data-item-id="t2"]').hover(),
  },
  {
    name: "marks-light-narrow",
    theme: "light",
    width: 300,
    messages: shows({ items: conversation, pins }),
    answers: { "ullage/session/epochs": epochs },
    act: async (page) => page.locator('[data-item-id="p1"]').hover(),
  },
  {
    name: "does-not-fit",
    messages: shows({ items: conversation }),
    answers: {},
    refusals: {
      "ullage/session/undoCompaction": {
        error:
          "The conversation would then hold about 231,400 tokens, more than the model's 200,000. With old tool results cleared it would fit.",
        reason: "does_not_fit",
      },
    },
    act: async (page) => page.getByRole("button", { name: "Undo" }).first().click(),
  },
  { name: "wide", width: 520, messages: shows({ items: [user, thinking, bash, answer, compaction], plan }) },
];
