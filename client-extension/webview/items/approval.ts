/** The question whether a tool may run, its answers, and which question a key answers. */

import { t } from "../../src/l10n";
import type { PermissionOption, ToolCallItem } from "../../src/protocol";
import { APPROVAL_KEYS } from "../../src/session/approvals";
import type { Actions } from "../actions";
import { PROPOSE_PLAN } from "./toolText";
import { element, keyHere, textButton, withCode } from "../dom";

/** For the tooltips. */
const KEYS: Partial<Record<PermissionOption["kind"], string>> = {
  allow_once: APPROVAL_KEYS.inPanel.allow,
  reject_once: APPROVAL_KEYS.inPanel.refuse,
};

/** What is asked; where that says no more than the title above it, only that it is a question. */
function questionOf({ permissionReason, title }: ToolCallItem): string {
  return permissionReason && permissionReason !== title ? permissionReason : t("Allow this?");
}

/** The buttons of an approval, and a field for the reason of a refusal. */
export function drawApproval(item: ToolCallItem, actions: Actions): HTMLElement {
  const options = item.permission ?? [];
  const isPlan = item.name === PROPOSE_PLAN;
  const reason = element("input", {
    type: "text",
    className: "approval-reason",
    placeholder: isPlan ? t("What should be different (optional)") : t("Reason for refusing (optional)"),
    attributes: { "aria-label": isPlan ? t("What should be different") : t("Reason for refusing") },
  });
  const root = element("div", {
    className: "approval",
    attributes: { role: "group", "aria-label": t("Approval: {title}", { title: item.title }) },
  });
  const respond = async (option: PermissionOption) => {
    root.classList.add("answered");
    const given = option.kind === "reject_once" ? reason.value.trim() : "";
    const taken = await actions.send("ullage/permission/respond", {
      toolCallId: item.id,
      permissionId: item.permissionId ?? "",
      optionId: option.optionId,
      ...(given === "" ? {} : { reason: given }),
    });
    root.classList.toggle("answered", taken);
  };
  const refusal = options.find((option) => option.kind === "reject_once");
  reason.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing && refusal !== undefined) {
      event.preventDefault();
      void respond(refusal);
    }
  });
  const buttons = options.map((option) => {
    const key = KEYS[option.kind];
    const button = textButton({
      label: option.name,
      className: option.kind === "allow_once" ? "primary" : "secondary",
      title: key === undefined ? "" : keyHere(key),
      onClick: () => void respond(option),
    });
    button.dataset.answer = option.kind;
    return button;
  });
  root.append(
    element("div", { className: "approval-question" }, ...withCode(questionOf(item))),
    element("div", { className: "button-row" }, ...buttons),
  );
  if (refusal !== undefined) {
    root.append(reason);
  }
  if (options.some((option) => option.kind === "allow_always")) {
    const list = textButton({
      label: t("What is always allowed…"),
      className: "link approval-list",
      title: t("See it, and take it back"),
      onClick: () => actions.runCommand("ullage.showAllowed"),
    });
    root.append(list);
  }
  return root;
}

/**
 * The question that has the focus, else the only one whose buttons are in sight; undefined where there is none, or more than one, and where a sheet
 * lies over them.
 */
export function approvalInSight(timeline: HTMLElement): HTMLElement | undefined {
  if (timeline.hasAttribute("inert")) {
    return undefined;
  }
  const asked = [...timeline.querySelectorAll<HTMLElement>(".approval:not(.answered)")];
  const focused = asked.find((approval) => approval.closest(".item")?.contains(document.activeElement) === true);
  if (focused !== undefined) {
    return focused;
  }
  const { top, bottom } = timeline.getBoundingClientRect();
  const seen = asked.filter((approval) => {
    const row = approval.querySelector(".button-row")?.getBoundingClientRect();
    return row !== undefined && row.top >= top && row.bottom <= bottom;
  });
  return seen.length === 1 ? seen[0] : undefined;
}
