/** Questions that wait: what the host knows of them, what a notification asks, which one a key answers. */

import { settle } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import { questionOf, Reminders, waitingAfter, waitingIn } from "../../client-extension/src/session/approvals";
import { render } from "../../client-extension/src/session/gauge";
import type { ToolCallItem, Update } from "../../client-extension/src/protocol";
import { approvalInSight } from "../../client-extension/webview/items/approval";
import { speak } from "../../client-extension/src/l10n";
import { makeItemView } from "../../client-extension/webview/items";
import { CHINESE } from "./chinese";
import { recordingActions } from "./recordingActions";
import { gauge, toolCall, user } from "./samples";

function asking(id: string, more: Partial<ToolCallItem> = {}): ToolCallItem {
  const permission = [
    { optionId: "once", name: "Allow once", kind: "allow_once" },
    { optionId: "no", name: "Refuse", kind: "reject_once" },
  ] as const;
  return toolCall(id, {
    status: "awaiting_permission",
    permission: [...permission],
    permissionId: `q-${id}`,
    permissionReason: "Run `ls`",
    ...more,
  });
}

const put = (item: ToolCallItem): Update => ({ kind: "item", item });

test("what waits is known from the snapshot on, and is gone when it is answered or removed", () => {
  let waiting = waitingIn([user("p1"), asking("t1"), toolCall("t2")]);
  assert.deepEqual(
    waiting.map(({ id }) => id),
    ["t1"],
  );
  waiting = waitingAfter(waiting, put(asking("t3")));
  waiting = waitingAfter(waiting, put(asking("t3", { permissionId: "q-again" })));
  assert.deepEqual(
    waiting.map(({ permissionId }) => permissionId),
    ["q-t1", "q-again"],
  );
  waiting = waitingAfter(waiting, put(toolCall("t1", { status: "running" })));
  waiting = waitingAfter(waiting, { kind: "remove", itemId: "t3" });
  assert.deepEqual(waiting, []);
});

test("an update of something else changes nothing", () => {
  const waiting = waitingIn([asking("t1")]);
  for (const update of [
    { kind: "title", title: "x" },
    put(toolCall("t9")),
    { kind: "append", itemId: "t1", field: "input", text: "x" },
  ] as Update[]) {
    assert.equal(waitingAfter(waiting, update), waiting);
  }
});

for (const [what, item, whole] of [
  ["a short command", asking("t1"), true],
  ["a command that is cut", asking("t1", { permissionReason: `Run ${"x".repeat(500)}` }), false],
  ["an edit, whose change is not in it", asking("t1", { toolKind: "edit", permissionReason: "Edit a.py" }), false],
] as const) {
  test(`a notification offers to allow only what can be read in it: ${what}`, () => {
    const question = questionOf(item);
    assert.equal(question.whole, whole);
    assert.match(question.text, /^Ullage waits for your approval: (Run|Edit)/);
    assert.ok(question.text.length < 250);
  });
}

const FIXER = { sessionId: "a1", name: "fixer", used: 10, threshold: 100, cost: null, doing: "Edit a.py" };

test("what a sub-agent is asked about names it, in a notification and in the card", () => {
  const item = asking("t1", { name: "task", title: "fixer: Mend it", toolKind: "edit", permissionReason: "Edit a.py", agent: FIXER });
  assert.deepEqual(questionOf(item), { text: "The sub-agent fixer waits for your approval: Edit a.py", whole: false });
  const { element } = makeItemView(item, recordingActions().actions);
  assert.equal(element.querySelector(".approval-agent")?.textContent, "The sub-agent fixer asks");
  assert.equal(element.querySelector<HTMLElement>(".tool-body")?.hidden, false, "the card shows what would be allowed");
  assert.equal(
    [...element.querySelectorAll<HTMLElement>(".agent button")].every(({ hidden }) => !hidden),
    true,
    "it can be stopped",
  );
});

test("whether a sub-agent may act is asked with the way to its definition", () => {
  const path = ".claude/agents/fixer.md";
  const { actions, done } = recordingActions();
  const asked = { action: "agent" as const, parts: [{ text: path, standing: "asked" as const, why: "the project wrote it" }] };
  const { element } = makeItemView(asking("t1", { name: "task", permissionReason: "Let it act", asked }), actions);
  assert.equal(element.querySelector(".approval-agent"), null, "the agent itself asks");
  [...element.querySelectorAll<HTMLElement>("button")].find(({ textContent }) => textContent === `Open ${path}`)?.click();
  assert.deepEqual(done, [`openFile ${path}`]);
});

test("a tool of an MCP server is asked about with what the server says of it", () => {
  const why = "the server says of this tool: Opens <b>valves</b>";
  const asked = { action: "mcp" as const, parts: [{ text: "pumps/open", standing: "asked" as const, why }] };
  const { element } = makeItemView(asking("t1", { name: "call_mcp_tool", asked }), recordingActions().actions);
  assert.equal(element.querySelector(".asked-parts")?.textContent, `pumps/openT${why.slice(1)}`);
});

test("while nobody looks at the panel a notification asks each question once", () => {
  const reminders = new Reminders();
  const ids = (waiting: ToolCallItem[], looks: boolean) => reminders.toAsk(waiting, looks).map(({ id }) => id);
  assert.deepEqual(ids([], false), []);
  assert.deepEqual(ids([asking("t1")], false), ["t1"]);
  assert.deepEqual(ids([asking("t1"), asking("t2")], false), ["t2"]);
  assert.deepEqual(ids([asking("t3")], true), []);
  assert.deepEqual(ids([asking("t3")], false), ["t3"], "the panel was hidden before it was answered");
  assert.deepEqual(ids([asking("t3", { permissionId: "q-again" })], false), ["t3"], "another question about the same call");
});

test("the gauge says that something waits, and leads there", () => {
  const { text, background, command, ariaLabel } = render(gauge({ used: 70_000 }), "running", { state: "running" }, 2);
  assert.equal(text, "$(bell-dot) 41% · approve");
  assert.deepEqual([background, command], ["warning", "ullage.nextApproval"]);
  assert.match(ariaLabel, /2 approvals wait for you/);
});

const tooltip = (isMac: boolean) => render(gauge({}), "running", { state: "running" }, 1, isMac).tooltip;

test("its tooltip names the keys that answer from anywhere, as this keyboard has them", () => {
  assert.match(
    tooltip(false),
    /`Ctrl\+Alt\+Shift\+Enter` allows once, `Ctrl\+Alt\+Shift\+Backspace` refuses, `Ctrl\+Alt\+Shift\+U` shows the next/,
  );
  assert.match(tooltip(true), /`Cmd\+Alt\+Shift\+Enter` allows once/);
  assert.doesNotMatch(render(gauge({}), "running", { state: "running" }, 0).tooltip, /allows once/);
});

function placeOn(more: { folder: string; outside?: boolean }): string | null | undefined {
  const parts = [{ text: "ls", standing: "asked", why: "it is asked" } as const];
  const { element } = makeItemView(asking("t1", { asked: { action: "command", parts, ...more } }), recordingActions().actions);
  return element.querySelector(".asked-folder")?.textContent;
}

test("the card says where a command would run, and that it is outside where it is", () => {
  const folder = "/home/you/tanks.worktrees/s1";
  assert.equal(placeOn({ folder: "tanks/src" }), "In tanks/src");
  assert.equal(placeOn({ folder, outside: true }), `In ${folder}, outside of the workspace folder`);
});

for (const [language, asked, question] of [
  ["en", "Run `ls`", "Run this command?"],
  ["en", "Files changed since. Run `ls`", "Files changed since. Run ls"],
  ["en", "Run `ls`, and leave it running in the background", "Run this command, and leave it running in the background?"],
  ["zh-cn", "运行 `ls`", "运行此命令?"],
  ["zh-cn", "运行 `ls -a`", "运行 ls -a"],
] as const) {
  test(`the question does not repeat the command that stands above it: ${language}, ${asked}`, () => {
    speak(language, language === "en" ? {} : CHINESE);
    try {
      const item = asking("t1", {
        permissionReason: asked,
        input: JSON.stringify({ command: "ls" }),
        asked: { action: "command", parts: [] },
      });
      const { element } = makeItemView(item, recordingActions().actions);
      assert.equal(element.querySelector(".approval-question")?.textContent, question);
    } finally {
      speak("en");
    }
  });
}

for (const [language, asked, question] of [
  ["en", 'Call the tool `open` of the MCP server `pumps` with {"valve": 1}', "Call the tool open of the MCP server pumps?"],
  ["en", 'It has changed. Call the tool `open` of the MCP server `pumps` with {"valve": 1}', undefined],
  ["en", 'Call the tool `open` of the MCP server `pump` with {"valve": 1}', undefined],
  ["zh-cn", '调用 MCP 服务器 `pumps` 的工具 `open`，参数为 {"valve": 1}', "调用 MCP 服务器 pumps 的工具 open?"],
] as const) {
  test(`the question does not repeat the arguments that stand above it: ${language}, ${asked}`, () => {
    speak(language, language === "en" ? {} : CHINESE);
    try {
      const input = JSON.stringify({ server: "pumps", tool: "open", arguments: { valve: 1 } });
      const item = asking("t1", { permissionReason: asked, input, asked: { action: "mcp", parts: [] } });
      const { element } = makeItemView(item, recordingActions().actions);
      assert.equal(element.querySelector(".approval-question")?.textContent, question ?? asked.replaceAll("`", ""));
    } finally {
      speak("en");
    }
  });
}

function timelineOf(...places: { top: number; bottom: number }[]): { timeline: HTMLElement; done: string[] } {
  const { actions, done } = recordingActions();
  const timeline = document.createElement("div");
  timeline.getBoundingClientRect = () => ({ top: 0, bottom: 100 }) as DOMRect;
  for (const [index, place] of places.entries()) {
    const { element } = makeItemView(asking(`t${index}`), actions);
    timeline.append(element);
    const row = element.querySelector(".approval > .button-row");
    assert.ok(row);
    row.getBoundingClientRect = () => place as DOMRect;
  }
  document.body.replaceChildren(timeline);
  return { timeline, done };
}

const SEEN = { top: 10, bottom: 30 };
const BELOW = { top: 110, bottom: 130 };

test("a key answers the question that is in sight, and none that is not", () => {
  const { timeline } = timelineOf(BELOW, SEEN);
  assert.equal(approvalInSight(timeline)?.closest<HTMLElement>(".item")?.dataset.itemId, "t1");
  assert.equal(approvalInSight(timelineOf(BELOW).timeline), undefined);
});

test("a key answers nothing that lies under a sheet", () => {
  const { timeline } = timelineOf(SEEN);
  timeline.toggleAttribute("inert", true);
  assert.equal(approvalInSight(timeline), undefined);
});

test("of two in sight a key answers the one with the focus", () => {
  const { timeline } = timelineOf(SEEN, SEEN);
  assert.equal(approvalInSight(timeline), undefined);
  timeline.querySelectorAll<HTMLButtonElement>('[data-answer="allow_once"]')[1]?.focus();
  assert.equal(approvalInSight(timeline)?.closest<HTMLElement>(".item")?.dataset.itemId, "t1");
});

test("the page of permissions leads from each question", () => {
  const { actions, done } = recordingActions();
  const { element } = makeItemView(asking("t1"), actions);
  element.querySelector<HTMLButtonElement>(".approval-list")?.click();
  assert.deepEqual(done, ["command ullage.showPermissions"]);
});

test("a question can be answered with a rule that refuses it from now on", async () => {
  const { actions, done } = recordingActions(() => ({ matches: [], matched: 0, of: 0 }));
  const parts = [{ text: "git push", standing: "asked", why: "it is asked" } as const];
  const proposals = [{ action: "command", pattern: "git push *" } as const];
  const { element } = makeItemView(asking("t1", { asked: { action: "command", parts, proposals: [...proposals] } }), actions);
  document.body.replaceChildren(element);
  element.querySelector<HTMLButtonElement>(".approval-never")?.click();
  const save = [...element.querySelectorAll("button")].find(({ textContent }) => textContent === "Save and refuse");
  save?.click();
  await settle();
  const rules = [{ action: "command", pattern: "git push *", refuses: true, scope: "workspace" }];
  const answer = { toolCallId: "t1", permissionId: "q-t1", optionId: "no", rules };
  assert.equal(done.at(-1), `ullage/permission/respond ${JSON.stringify(answer)}`);
});

const CHANGED = [
  "The user changed your proposal for `a.py` before they accepted it. Theirs was written, so build on it. What they changed:",
  "```diff",
  "--- proposed",
  "+++ accepted",
  "@@ -1,2 +1,3 @@",
  "+zero",
  " one",
  "--- two",
  "\\ No newline at end of file",
  "```",
].join("\n");

const WRITTEN = { status: "completed", toolKind: "edit", diff: { path: "a.py", oldText: "one", newText: "zero\none" } } as const;

test("a card says that an edit was accepted with the user's changes, and shows these", () => {
  const { element } = makeItemView(toolCall("t1", { ...WRITTEN, output: CHANGED }), recordingActions().actions);
  const yours = element.querySelector(".tool-yours");
  assert.equal(yours?.querySelector("summary")?.textContent, "Accepted with your changes");
  assert.deepEqual(
    [...(yours?.querySelectorAll("tr") ?? [])].map((row) => row.textContent),
    ["+zero", " one", "−-- two"],
  );
  const { element: untouched } = makeItemView(toolCall("t2", { ...WRITTEN, output: "Replaced 1 place." }), recordingActions().actions);
  assert.equal(untouched.querySelector<HTMLElement>(".tool-yours")?.hidden, true);
});

test("where the difference is too long to be told, the card only says that there is one", () => {
  const output = "The user changed your proposal for `a.py` before they accepted it. (The text is too long to show the difference.)";
  const { element } = makeItemView(toolCall("t1", { ...WRITTEN, output }), recordingActions().actions);
  assert.equal(element.querySelector(".tool-yours summary"), null);
  assert.equal(element.querySelector(".tool-yours")?.textContent, "Accepted with your changes");
});
