/** The session that the scenes show: its gauge, its model, and how the panel gets it. */

export const gauge = {
  used: 97_400,
  threshold: 167_000,
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
  next: { why: "threshold", at: 167_000 },
  policy: "ullage",
  measure: "usage",
};

export const session = {
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

export const practice = { name: "practice", displayName: "Practice model", practice: true, limitsSource: "practice" };
export const running = { type: "server", status: { state: "running" } };
/** The messages after which the panel shows a session. @param {object} fields of the snapshot, where it is another one */
export const shows = (fields) => [running, { type: "snapshot", snapshot: { ...session, ...fields } }];
