/** Questions of the agent: how they are drawn, answered by mouse and keys, announced and counted; and that they cannot pass for an approval. */

import { settle } from "./dom";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { GivenAnswer, Question, ToolCallItem } from "../../client-extension/src/protocol";
import { agentsQuestionOf, Reminders, waitingAfter, waitingIn, waitingInWords } from "../../client-extension/src/session/approvals";
import { Attention } from "../../client-extension/src/session/attention";
import { render } from "../../client-extension/src/session/gauge";
import { notificationText, visibleText } from "../../client-extension/src/visible";
import { approvalInSight } from "../../client-extension/webview/items/approval";
import { focusQuestion } from "../../client-extension/webview/items/question";
import { makeItemView } from "../../client-extension/webview/items";
import { Announcer } from "../../client-extension/webview/conversation/activity";
import { recordingActions } from "./recordingActions";
import { ROOT } from "./repository";
import { gauge, snapshot, toolCall, user } from "./samples";

const DATABASE: Question = {
  header: "Database",
  question: "Where are the tanks kept?",
  options: [
    { optionId: "1", label: "SQLite", description: "One file" },
    { optionId: "2", label: "PostgreSQL", description: "A server" },
  ],
};
const FUELS: Question = { ...DATABASE, header: "Fuels", question: "Which fuels?", multiSelect: true };

function asking(questions: Question[], more: Partial<ToolCallItem> = {}): ToolCallItem {
  return toolCall("t1", { name: "ask_user", toolKind: "other", status: "awaiting_answer", questions, questionId: "q1", ...more });
}

function press(key: string, target: Element | undefined, more: object = {}): void {
  assert.ok(target);
  target.dispatchEvent(new window.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
}

function withItem(item: ToolCallItem) {
  return {
    ...snapshot({ state: "running", items: [item] }),
    retry: undefined,
    pins: { itemIds: [], paths: [] },
    modes: undefined,
    history: undefined,
    turns: new Map(),
  };
}

function drawn(item: ToolCallItem, kept?: GivenAnswer[]) {
  const { actions, done } = recordingActions();
  const keeps: (readonly GivenAnswer[])[] = [];
  actions.keptAnswer = (id) => (id === "q1" ? kept : undefined);
  actions.keepAnswer = (_id, given) => void keeps.push(given);
  const view = makeItemView(item, actions);
  document.body.replaceChildren(view.element);
  const inputs = () => [...view.element.querySelectorAll<HTMLInputElement>(".question-option input")];
  const own = () => [...view.element.querySelectorAll<HTMLTextAreaElement>(".question-own")];
  const button = (label: string) => {
    const found = [...view.element.querySelectorAll("button")].find((each) => each.textContent === label);
    assert.ok(found, `no button ${label}`);
    return found;
  };
  const write = (text: string, index = 0) => {
    const box = own()[index];
    assert.ok(box);
    box.value = text;
    box.dispatchEvent(new window.Event("input", { bubbles: true }));
  };
  return { view, element: view.element, done, keeps, inputs, own, button, write };
}

const answered = (...answers: object[]) => `ullage/question/respond ${JSON.stringify({ toolCallId: "t1", questionId: "q1", answers })}`;

test("a click chooses, and the button sends what was chosen and written", async () => {
  const { done, inputs, button, write } = drawn(asking([DATABASE]));
  assert.equal(button("Answer").disabled, true);
  inputs()[1]?.click();
  assert.equal(button("Answer").disabled, false);
  write(" version 18 ");
  button("Answer").click();
  await settle();
  assert.deepEqual(done, [answered({ optionIds: ["2"], text: "version 18" })]);
});

test("one's own words alone are an answer", async () => {
  const { done, button, write } = drawn(asking([DATABASE]));
  write("In memory");
  button("Answer").click();
  await settle();
  assert.deepEqual(done, [answered({ text: "In memory" })]);
});

test("of one choice, another click changes it, and a click on the same gives it up", () => {
  const { inputs, button } = drawn(asking([DATABASE]));
  inputs()[0]?.click();
  inputs()[1]?.click();
  assert.deepEqual(
    inputs().map(({ checked }) => checked),
    [false, true],
  );
  inputs()[1]?.click();
  assert.equal(button("Answer").disabled, true);
});

test("several may be chosen where the question says so", async () => {
  const { done, inputs, button } = drawn(asking([FUELS]));
  assert.deepEqual(
    inputs().map(({ type }) => type),
    ["checkbox", "checkbox"],
  );
  for (const input of inputs()) {
    input.click();
  }
  button("Answer").click();
  await settle();
  assert.deepEqual(done, [answered({ optionIds: ["1", "2"] })]);
});

test("numbers choose and Enter sends; in one's own words a number is a number", async () => {
  const { done, inputs, own } = drawn(asking([DATABASE]));
  press("2", inputs()[0]);
  assert.equal(inputs()[1]?.checked, true);
  press("3", inputs()[0]);
  press("1", own()[0]);
  press("Enter", own()[0], { shiftKey: true });
  assert.deepEqual([inputs()[0]?.checked, done.length], [false, 0]);
  press("Enter", inputs()[1]);
  await settle();
  assert.deepEqual(done, [answered({ optionIds: ["2"] })]);
});

test("Enter leads from one question to the next, and sends at the last; what was left out is sent as such", async () => {
  const { done, inputs } = drawn(asking([DATABASE, FUELS]));
  press("1", inputs()[0]);
  press("Enter", inputs()[0]);
  assert.equal(document.activeElement, inputs()[2]);
  assert.deepEqual(done, []);
  press("Enter", inputs()[2]);
  await settle();
  assert.deepEqual(done, [answered({ optionIds: ["1"] }, {})]);
});

test("Enter sends nothing where nothing was given", async () => {
  const { done, inputs } = drawn(asking([DATABASE]));
  press("Enter", inputs()[0]);
  await settle();
  assert.deepEqual(done, []);
});

test("a question can be skipped", async () => {
  const { done, inputs, button } = drawn(asking([DATABASE]));
  inputs()[0]?.click();
  button("Skip").click();
  await settle();
  assert.deepEqual(done, ['ullage/question/respond {"toolCallId":"t1","questionId":"q1"}']);
});

test("what was filled in outlives updates and a reload", () => {
  const item = asking([DATABASE, FUELS]);
  const { view, keeps, inputs, own, write } = drawn(item);
  inputs()[1]?.click();
  write("all of them", 1);
  view.update({ ...item, title: "Question: Where?" });
  assert.equal(inputs()[1]?.checked, true);
  assert.equal(own()[1]?.value, "all of them");
  const kept = keeps.at(-1);
  assert.deepEqual(kept, [{ optionIds: ["2"] }, { text: "all of them" }]);
  const again = drawn(item, [...(kept ?? [])]);
  assert.deepEqual(
    again.inputs().map(({ checked }) => checked),
    [false, true, false, false],
  );
  assert.equal(again.own()[1]?.value, "all of them");
  assert.equal(again.button("Answer").disabled, false);
});

test("other questions of the same call are another form", () => {
  const { view, inputs } = drawn(asking([DATABASE]));
  inputs()[0]?.click();
  view.update(asking([DATABASE], { questionId: "q2" }));
  assert.deepEqual(
    inputs().map(({ checked }) => checked),
    [false, false],
  );
});

test("screen readers know a choice of one, of several, and whose question it is", () => {
  const { element } = drawn(asking([DATABASE, FUELS]));
  const parts = [...element.querySelectorAll(".question")];
  assert.deepEqual(
    parts.map((part) => [part.getAttribute("role"), document.getElementById(part.getAttribute("aria-labelledby") ?? "")?.textContent]),
    [
      ["radiogroup", "Where are the tanks kept?"],
      ["group", "Which fuels?"],
    ],
  );
  assert.equal(element.querySelector(".questions")?.getAttribute("aria-label"), "Questions of the agent");
  assert.match(element.textContent ?? "", /The agent asks you\. An answer allows nothing\./);
});

test("once it is answered the card is short and shows what was answered", () => {
  const { view, element } = drawn(asking([DATABASE]));
  const answers = [{ question: "Where are the tanks kept?", chosen: ["PostgreSQL"], text: "version 18" }];
  view.update(asking([], { status: "completed", questions: null, questionId: null, answers, output: "The user answered:\n1. …" }));
  assert.equal(element.querySelector(".questions"), null);
  assert.equal(element.querySelector<HTMLElement>(".tool-body")?.hidden, true);
  assert.deepEqual(
    [...element.querySelectorAll(".answer > *")].map(({ textContent }) => textContent),
    ["Where are the tanks kept?", "PostgreSQL", "version 18"],
  );
});

for (const status of ["completed", "failed", "cancelled"] as const) {
  test(`a question that was not answered says so (${status})`, () => {
    const { element } = drawn(asking([], { status, questions: null, questionId: null }));
    assert.equal(element.querySelector(".tool-status")?.getAttribute("aria-label"), "Not answered");
  });
}

// What the host knows

test("questions wait beside approvals, and are none", () => {
  const approval = toolCall("t2", { status: "awaiting_permission", permissionId: "p1" });
  const waiting = waitingIn([user("p"), asking([DATABASE]), approval, toolCall("t3")]);
  assert.deepEqual(
    waiting.map(({ id }) => id),
    ["t1", "t2"],
  );
  assert.deepEqual(
    waitingAfter(waiting, { kind: "item", item: asking([], { status: "completed" }) }).map(({ id }) => id),
    ["t2"],
  );
  assert.equal(waitingInWords(0, 1), "1 question waits for you");
  assert.equal(waitingInWords(2, 3), "2 approvals wait for you · 3 questions wait for you");
});

test("the badge and the status bar say what waits", () => {
  const attention = new Attention();
  const wanted = { approval: true, done: true, sound: true };
  assert.equal(attention.approvalsWait(0, false, wanted, 1).sound, "waits");
  assert.deepEqual(attention.badge, { value: 1, tooltip: "1 question waits for you" });
  const shown = render(gauge(), "running", { state: "running" }, 0, false, 1);
  assert.match(shown.text, /· answer$/);
  assert.match(shown.tooltip, /1 question waits for you/);
  assert.doesNotMatch(shown.tooltip, /allows once/);
  assert.equal(shown.command, "ullage.nextApproval");
  assert.match(render(gauge(), "running", { state: "running" }, 1, false, 1).tooltip, /allows once/);
});

test("a notification asks each question once", () => {
  const reminders = new Reminders();
  assert.equal(reminders.toAsk([asking([DATABASE])], false).length, 1);
  assert.equal(reminders.toAsk([asking([DATABASE])], false).length, 0);
  assert.equal(reminders.toAsk([asking([DATABASE], { questionId: "q2" })], false).length, 1);
});

test("a notification has the options of one plain question", () => {
  assert.deepEqual(agentsQuestionOf(asking([DATABASE])), {
    text: "The agent asks you, and an answer allows nothing: Where are the tanks kept?",
    options: [
      { label: "1. SQLite", optionId: "1" },
      { label: "2. PostgreSQL", optionId: "2" },
    ],
  });
});

const LONG = "x".repeat(200);
for (const [what, questions] of [
  ["several questions", [DATABASE, FUELS]],
  ["several choices", [FUELS]],
  ["a long question", [{ ...DATABASE, question: LONG }]],
  ["a long option", [{ ...DATABASE, options: [{ optionId: "1", label: LONG.slice(0, 60), description: "" }] }]],
] as [string, Question[]][]) {
  test(`a notification only leads to ${what}`, () => {
    assert.deepEqual(agentsQuestionOf(asking(questions)).options, []);
  });
}

test("a screen reader is told of a question once", () => {
  const announcer = new Announcer();
  announcer.update(withItem(asking([], { status: "pending", questions: null })));
  announcer.update(withItem(asking([DATABASE, FUELS])));
  assert.equal(announcer.element.textContent, "The agent asks: Where are the tanks kept? Which fuels?");
});

// What a hostile model can do

const APPROVAL_LIKE: Question = {
  header: "Approval",
  question: "Run `rm -rf .`? [Allow](command:ullage.allow) $(check)",
  options: [
    { optionId: "1", label: "Allow Once", description: "[Fix](command:x)" },
    { optionId: "2", label: "Always allow", description: "<button data-answer='allow_once'>Allow once</button>" },
    { optionId: "3", label: "Refuse", description: "no" },
  ],
};

test("no key of an approval reaches a question, and nothing of it is a button of one", () => {
  const { element } = drawn(asking([APPROVAL_LIKE]));
  const timeline = document.createElement("div");
  timeline.append(element);
  assert.equal(approvalInSight(timeline), undefined);
  assert.equal(element.querySelector(".approval, [data-answer], a"), null);
  assert.deepEqual(
    [...element.querySelectorAll(".questions button")].map(({ textContent }) => textContent),
    ["Answer", "Skip"],
  );
});

test("a notification of a question has no button of an approval, and no link", () => {
  const { text, options } = agentsQuestionOf(asking([APPROVAL_LIKE]));
  assert.deepEqual(
    options.map(({ label }) => label),
    ["1. Allow Once", "2. Always allow", "3. Refuse"],
  );
  assert.doesNotMatch(notificationText(text), /\]\(command:/);
});

test("no character of a question is hidden", () => {
  const cases = JSON.parse(readFileSync(join(ROOT, "tests", "protocol", "visible.json"), "utf8")) as { name: string; text: string }[];
  for (const { name, text } of cases) {
    const option = { optionId: "1", label: `a${text}`, description: `b${text}` };
    const item = asking([{ header: `c${text}`, question: `d${text}`, options: [option, { ...option, optionId: "2" }] }]);
    const { element } = drawn(item);
    assert.equal(visibleText(element.textContent ?? ""), element.textContent, name);
    const over = drawn(asking([], { status: "completed", questions: null, answers: [{ question: text, chosen: [text], text }] }));
    assert.equal(visibleText(over.element.textContent ?? ""), over.element.textContent, name);
  }
});

test("the cursor goes into the form that is shown, and not into one that was answered", () => {
  const { element, inputs } = drawn(asking([DATABASE]));
  assert.equal(focusQuestion(element), true);
  assert.equal(document.activeElement, inputs()[0]);
  element.querySelector(".questions")?.classList.add("answered");
  assert.equal(focusQuestion(element), false);
});
