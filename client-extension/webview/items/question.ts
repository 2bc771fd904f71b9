/** What the agent asks the user: all questions of a call as one form, and once it is answered what was answered. It looks unlike an approval. */

import { t } from "../../src/l10n";
import type { Answer, GivenAnswer, Question, QuestionOption, ToolCallItem } from "../../src/protocol";
import { visibleLine, visibleText } from "../../src/visible";
import type { Actions } from "../actions";
import { element, icon, keyHere, textButton } from "../dom";

export const ASK_USER = "ask_user";

/** One question of the form: what the user gave to it by now. */
interface Field {
  element: HTMLElement;
  given: () => GivenAnswer;
  /** Chooses the option of that number, from 1; false if there is none. */
  choose: (number: number) => boolean;
  /** What the cursor goes to. */
  first: HTMLElement;
}

/** The form, with room for one's own words at each question. What was filled in outlives a reload of the panel. */
export function drawQuestions(item: ToolCallItem, actions: Actions): HTMLElement {
  const questions = item.questions ?? [];
  const questionId = item.questionId ?? "";
  const root = element("div", {
    className: "questions",
    attributes: { role: "group", "aria-label": t("Questions of the agent") },
  });
  const send = textButton({ label: t("Answer"), className: "primary", title: keyHere("Enter"), onClick: () => void respond(true) });
  send.dataset.answers = "send";
  const skip = textButton({
    label: t("Skip"),
    className: "secondary",
    title: t("Leave it to the agent"),
    onClick: () => void respond(false),
  });
  const isGiven = () => fields.some(({ given }) => (given().optionIds ?? []).length > 0 || (given().text ?? "").trim() !== "");
  const changed = () => {
    send.disabled = !isGiven();
    actions.keepAnswer(
      questionId,
      fields.map(({ given }) => given()),
    );
  };
  const respond = async (answers: boolean) => {
    if (answers && !isGiven()) {
      return;
    }
    root.classList.add("answered");
    const taken = await actions.send("ullage/question/respond", {
      toolCallId: item.id,
      questionId,
      ...(answers ? { answers: fields.map(({ given }) => given()) } : {}),
    });
    root.classList.toggle("answered", taken);
  };
  const kept = actions.keptAnswer(questionId);
  const fields = questions.map((question, index) => drawQuestion(question, `${questionId}-${index}`, kept?.[index], changed));
  send.disabled = !isGiven();
  root.addEventListener("keydown", (event) => {
    const field = fields.find(({ element: part }) => part.contains(event.target as Node));
    const plain = !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey && !event.isComposing;
    if (field === undefined || !plain) {
      return;
    }
    const writes = event.target instanceof Element && event.target.matches("textarea");
    if (event.key === "Enter") {
      event.preventDefault();
      const next = fields[fields.indexOf(field) + 1];
      if (next === undefined) {
        void respond(true);
      } else {
        next.first.focus();
      }
    } else if (!writes && /^[1-9]$/.test(event.key) && field.choose(Number(event.key))) {
      event.preventDefault();
    }
  });
  root.append(
    element("p", { className: "question-note", textContent: t("The agent asks you. An answer allows nothing.") }),
    ...fields.map((field) => field.element),
    element("div", { className: "button-row" }, send, skip),
  );
  return root;
}

function drawQuestion(question: Question, name: string, kept: GivenAnswer | undefined, changed: () => void): Field {
  const several = question.multiSelect === true;
  const inputs = new Map<QuestionOption, HTMLInputElement>();
  let chosen: HTMLInputElement | undefined;
  const rows = question.options.map((option, index) => {
    const input = element("input", {
      type: several ? "checkbox" : "radio",
      name,
      checked: kept?.optionIds?.includes(option.optionId) === true,
    });
    inputs.set(option, input);
    chosen = input.checked ? input : chosen;
    input.addEventListener("click", () => {
      if (!several && chosen === input) {
        input.checked = false; // what was chosen can be given up again
      }
      chosen = input.checked ? input : undefined;
      changed();
    });
    return element(
      "label",
      { className: "question-option" },
      input,
      element("span", { className: "question-number", textContent: String(index + 1), attributes: { "aria-hidden": "true" } }),
      element("span", { className: "question-label", dir: "auto", textContent: visibleLine(option.label) }),
      element("span", { className: "question-meaning", dir: "auto", textContent: visibleText(option.description) }),
    );
  });
  const own = element("textarea", {
    className: "question-own",
    rows: 1,
    dir: "auto",
    value: kept?.text ?? "",
    placeholder: t("In your own words (optional)"),
    attributes: { "aria-label": t("In your own words: {question}", { question: visibleLine(question.question) }) },
  });
  own.addEventListener("input", () => {
    own.style.height = "auto";
    own.style.height = `${own.scrollHeight + own.offsetHeight - own.clientHeight}px`;
    changed();
  });
  const asked = element("div", {
    className: "question-text",
    dir: "auto",
    id: `${name}-asked`,
    textContent: visibleText(question.question),
  });
  const part = element(
    "div",
    { className: "question", attributes: { role: several ? "group" : "radiogroup", "aria-labelledby": `${name}-asked` } },
    element("span", { className: "question-header", dir: "auto", textContent: visibleLine(question.header) }),
    asked,
    several && element("div", { className: "question-several", textContent: t("Several may be chosen") }),
    ...rows,
    own,
  );
  const given = (): GivenAnswer => {
    const optionIds = [...inputs].filter(([, input]) => input.checked).map(([option]) => option.optionId);
    return { ...(optionIds.length > 0 ? { optionIds } : {}), ...(own.value.trim() === "" ? {} : { text: own.value.trim() }) };
  };
  const choose = (number: number) => {
    const input = [...inputs.values()][number - 1];
    input?.focus();
    input?.click();
    return input !== undefined;
  };
  return { element: part, given, choose, first: [...inputs.values()][0] ?? own };
}

/** What was answered, in short: each question with what was chosen and said to it. */
export function drawAnswers(answers: readonly Answer[]): HTMLElement {
  return element(
    "div",
    { className: "answers" },
    ...answers.map(({ question, chosen, text }) =>
      element(
        "div",
        { className: "answer" },
        element("div", { className: "answer-question", dir: "auto", textContent: visibleText(question) }),
        ...chosen.map((label) =>
          element("div", { className: "answer-chosen" }, icon("check"), element("span", { dir: "auto", textContent: visibleLine(label) })),
        ),
        text != null && element("div", { className: "answer-text", dir: "auto", textContent: visibleText(text) }),
      ),
    ),
  );
}

/** Puts the cursor into the form of that row, where it has one. */
export function focusQuestion(row: HTMLElement): boolean {
  const first = row.querySelector<HTMLElement>(".questions:not(.answered) :is(input, textarea)");
  first?.focus();
  return first !== null;
}
