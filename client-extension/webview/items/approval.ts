/** The question whether a tool may run, its answers, and which question a key answers. */

import { t } from "../../src/l10n";
import type { PermissionOption, ToolCallItem } from "../../src/protocol";
import { APPROVAL_KEYS } from "../../src/session/approvals";
import type { Actions } from "../actions";
import { commandOf, mcpToolOf, PROPOSE_PLAN } from "./toolText";
import { visibleLine, visibleText } from "../../src/visible";
import { element, icon, keyHere, setChildren, textButton, withCode } from "../dom";
import { RuleEditor } from "../permissions/ruleEditor";

/** For the tooltips. */
const KEYS: Partial<Record<PermissionOption["kind"], string>> = {
  allow_once: APPROVAL_KEYS.inPanel.allow,
  reject_once: APPROVAL_KEYS.inPanel.refuse,
};

/** What is asked; where that says no more than the title above it, only that it is a question. */
function questionOf({ permissionReason, title, asked, input }: ToolCallItem): string {
  if (asked?.action === "command") {
    const description = t("Run `{command}`", { command: commandOf(input) ?? "" }); // it stands above, and below part by part
    if (permissionReason === description) {
      return t("Run this command?");
    }
    if (permissionReason === t("{description}, and leave it running in the background", { description })) {
      return t("Run this command, and leave it running in the background?");
    }
  }
  const called = asked?.action === "mcp" ? mcpToolOf(input) : undefined;
  if (called !== undefined) {
    const withArguments = t("Call the tool `{tool}` of the MCP server `{server}` with {arguments}", { ...called, arguments: "\0" });
    const [before = "", after = ""] = withArguments.split("\0"); // its arguments stand above, whole
    if (permissionReason?.startsWith(before) && permissionReason.endsWith(after)) {
      return t("Call the tool `{tool}` of the MCP server `{server}`?", called);
    }
  }
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
  const proposals = item.asked?.proposals ?? [];
  const editorPlace = element("div", { className: "rule-place" });
  const row = element("div", { className: "button-row" });
  const links = element("div", { className: "approval-links" });
  const openEditor = (option: PermissionOption) => {
    const refuses = option.kind === "reject_once";
    const close = () => {
      setChildren(editorPlace);
      row.hidden = links.hidden = reason.hidden = false;
      root.querySelector<HTMLButtonElement>(refuses ? ".approval-never" : '[data-answer="allow_always"]')?.focus();
    };
    const editor = new RuleEditor({
      actions,
      rules: refuses ? proposals.map((rule) => ({ ...rule, refuses })) : proposals,
      saveLabel: refuses ? t("Save and refuse") : t("Save and allow"),
      save: async (rules) => {
        await actions.ask("ullage/permission/respond", {
          toolCallId: item.id,
          permissionId: item.permissionId ?? "",
          optionId: option.optionId,
          rules,
        });
        root.classList.add("answered");
      },
      cancel: close,
    });
    row.hidden = links.hidden = reason.hidden = true;
    setChildren(editorPlace, editor.element);
    editor.focus();
  };
  const buttons = options.map((option) => {
    const key = KEYS[option.kind];
    const isEdited = option.kind === "allow_always" && proposals.length > 0;
    const button = textButton({
      label: isEdited ? t("Always allow…") : option.name,
      className: option.kind === "allow_once" ? "primary" : "secondary",
      title: isEdited ? t("Write the rule, and see what it would cover") : key === undefined ? "" : keyHere(key),
      onClick: () => (isEdited ? openEditor(option) : void respond(option)),
    });
    button.dataset.answer = option.kind;
    return button;
  });
  if (item.asked?.proposed != null) {
    const open = textButton({
      label: t("Open in the editor"),
      icon: "diff",
      className: "secondary",
      title: t("See the change beside the file, and edit it before you accept it"),
      onClick: () => actions.runCommand("ullage.openProposedEdit", item.id),
    });
    buttons.splice(1, 0, open);
  }
  row.append(...buttons);
  if (item.agent != null) {
    root.append(element("div", { className: "approval-agent" }, icon("robot"), t("The sub-agent {name} asks", { name: item.agent.name })));
  }
  root.append(element("div", { className: "approval-question" }, ...withCode(questionOf(item))), ...drawAsked(item), editorPlace, row);
  if (refusal !== undefined) {
    root.append(reason);
  }
  if (!isPlan) {
    const list = textButton({
      label: t("Permissions…"),
      className: "link approval-list",
      title: t("What Ullage asks about, and the rules that allow things for good"),
      onClick: () => actions.runCommand("ullage.showPermissions"),
    });
    const never =
      refusal !== undefined &&
      proposals.length > 0 &&
      textButton({
        label: t("Never allow…"),
        className: "link approval-list approval-never",
        title: t("Write a rule that refuses it, and see what else it would refuse"),
        onClick: () => openEditor(refusal),
      });
    const definition = item.asked?.action === "agent" ? item.asked.parts[0]?.text : undefined;
    const open =
      definition !== undefined &&
      textButton({
        label: t("Open {path}", { path: visibleLine(definition) }),
        className: "link approval-list",
        title: t("Read what the project tells this sub-agent"),
        onClick: () => actions.openFile(definition),
      });
    setChildren(links, open, list, never);
    root.append(links);
  }
  return root;
}

/** Where it would happen, and each part with why it is asked about or not. An edit shows its change instead. */
function drawAsked({ asked }: ToolCallItem): HTMLElement[] {
  if (asked == null || !["command", "host", "mcp"].includes(asked.action)) {
    return [];
  }
  const parts = asked.parts.map(({ text, standing, why }) =>
    element(
      "li",
      { className: `asked-part ${standing}` },
      icon(standing === "asked" ? "question" : "check"),
      element("code", { textContent: visibleText(text) }),
      element("span", { className: "asked-why" }, ...withCode(sentence(why))),
    ),
  );
  return [
    ...(asked.folder == null
      ? []
      : [element("div", { className: "asked-folder" }, ...withCode(placeInWords(asked.folder, asked.outside === true)))]),
    element("ul", { className: "asked-parts", attributes: { "aria-label": t("What it does, part by part") } }, ...parts),
  ];
}

function placeInWords(folder: string, isOutside: boolean): string {
  return isOutside ? t("In `{folder}`, outside of the workspace folder", { folder }) : t("In `{folder}`", { folder });
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/**
 * The question that has the focus, else the only one whose buttons are in sight; undefined if there is none, or more than one, and where a sheet
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
