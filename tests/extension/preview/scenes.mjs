/** What the preview shows: messages for the panel, and what is done in it before the picture is taken. */

import { answer, approval, AT, bash, bashApproval, spoofedApproval, edit, notice, plan, read, search, thinking, user } from "./items.mjs";
import { compaction, conversation, epochFates, epochs, pins, preview } from "./past.mjs";
import { gauge, practice, shows } from "./session.mjs";

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
  await page.locator('.epoch[data-number="2"] > .epoch-fates > summary').click();
}

/** @typedef {{name: string, messages: object[], answers?: Record<string, object>, refusals?: Record<string, {error: string, reason: string}>, theme?: "dark" | "light" | "contrast", width?: number, height?: number, act?: (page: import("playwright-core").Page) => Promise<void>}} Scene */

const TIMELINE = { "ullage/session/epochs": epochs, "ullage/session/epochFates": epochFates };

/** @param {import("playwright-core").Page} page */
const unfoldRunning = (page) => page.locator(".running-toggle").click();

const RUNNING = shows({
  items: [
    user,
    { ...bash, output: "up", goesOn: "run1" },
    { ...bash, id: "t9", status: "running", title: "$ npm run build", output: "building …\n" },
  ],
  state: "running",
  plan,
  running: [
    {
      id: "run1",
      toolCallId: "t1",
      command: "npm run dev -- --host localhost --strictPort",
      began: AT,
      lastLine: "Local: http://localhost:5173/",
      ports: [5173, 24_678],
    },
    {
      id: "run2",
      toolCallId: "t8",
      command: "cargo watch -x test",
      began: AT,
      lastLine: "error[E0308]: mismatched types",
      end: "exited",
      endedAt: AT + 75,
      exitCode: 101,
      failed: true,
    },
    { id: "run3", toolCallId: "t7", command: "tail -f log/development.log", began: AT },
  ],
});

/** @type {Scene[]} */
export const SCENES = [
  { name: "running", messages: RUNNING },
  { name: "running-open", messages: RUNNING, act: unfoldRunning },
  { name: "running-open-light-narrow", theme: "light", width: 300, messages: RUNNING, act: unfoldRunning },
  { name: "starting", messages: [] },
  {
    name: "stopped",
    messages: [
      {
        type: "server",
        status: {
          state: "stopped",
          message:
            'Python 3.11 or newer was not found. Install it, or enter its path in the setting "Ullage › Server: Interpreter". Then restart.',
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
  { name: "approval-spoofed", messages: shows({ state: "running", items: [user, spoofedApproval], model: practice }) },
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
        { ...compaction, id: "c2", status: "undone", trigger: "manual", way: "program" },
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
          way: null,
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
  { name: "timeline-sheet", messages: shows({ items: conversation }), answers: TIMELINE, act: openTimeline },
  {
    name: "timeline-sheet-contrast",
    theme: "contrast",
    width: 300,
    messages: shows({ items: conversation }),
    answers: TIMELINE,
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
