/**
 * An edit that waits for its answer, in VS Code's diff editor: the file as it is now on the left, the proposed text on the right. What the user
 * changes on the right, saved or not, is what is written when they accept.
 */

import * as vscode from "vscode";
import { isReallyInside } from "../files/places";
import { t } from "../l10n";
import { tell, tellError } from "../notify";
import type { PermissionOption, ToolCallItem } from "../protocol";
import type { ActiveSession } from "./activeSession";

/** The left side of a file that is still to be made. */
const NOTHING = "ullage-nothing";

/** Until a call has ended, its edit may still be written: VS Code opens a file by itself that changes and is not saved at once, where no tab shows it. */
const UNDECIDED: ReadonlySet<ToolCallItem["status"]> = new Set(["pending", "awaiting_permission", "running"]);

export class ProposedEdits implements vscode.Disposable {
  /** The documents that were opened, by the calls that wait for an answer. */
  private readonly opened = new Map<string, vscode.Uri>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly session: ActiveSession) {
    this.subscriptions = [
      session.onDidReplace(() => void this.follow()),
      session.onUpdate(({ update }) => {
        if (update.kind === "item" && update.item.kind === "toolCall" && !UNDECIDED.has(update.item.status)) {
          void this.closeOf(update.item.id);
        } else if (update.kind === "remove") {
          void this.closeOf(update.itemId);
        }
      }),
      vscode.workspace.registerTextDocumentContentProvider(NOTHING, { provideTextDocumentContent: () => "" }),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  /** Opens the edit of that call, else the first that waits. */
  async open(callId: unknown): Promise<void> {
    const waiting = this.session.current?.approvals.filter(({ asked }) => asked?.proposed != null) ?? [];
    const item = typeof callId === "string" ? waiting.find(({ id }) => id === callId) : waiting[0];
    const proposed = item?.asked?.proposed;
    const folder = this.session.storeFolder;
    if (item === undefined || proposed == null || folder === undefined) {
      void tell(t("No edit waits for your approval."));
      return;
    }
    if (!(await isReallyInside(proposed.document, [{ top: folder, within: [folder] }]))) {
      void tellError(t("The proposed text is not where it should be, so it is not opened."));
      return;
    }
    const [file, document] = [vscode.Uri.file(proposed.path), vscode.Uri.file(proposed.document)];
    this.opened.set(item.id, document);
    this.tellKeys();
    const left = proposed.isNew === true ? file.with({ scheme: NOTHING }) : file;
    const name = proposed.path.replace(/^.*[/\\]/, "");
    await vscode.commands.executeCommand("vscode.diff", left, document, t("{name} (now ↔ proposed, can be edited)", { name }), {
      preview: false,
    });
  }

  /** Answers the question whose proposed text is in the active editor. */
  async answer(kind: PermissionOption["kind"]): Promise<void> {
    const active = vscode.window.activeTextEditor?.document.uri.toString();
    const callId = [...this.opened].find(([, uri]) => uri.toString() === active)?.[0];
    const item = this.session.current?.approvals.find(({ id }) => id === callId);
    const option = item?.permission?.find((each) => each.kind === kind);
    if (item === undefined || option === undefined) {
      void tell(t("This was answered already."));
      return;
    }
    await this.session.request("ullage/permission/respond", {
      toolCallId: item.id,
      permissionId: item.permissionId ?? "",
      optionId: option.optionId,
    });
  }

  /** Closes what another session asks about, or nobody any more. */
  private async follow(): Promise<void> {
    const waiting: readonly ToolCallItem[] = this.session.current?.approvals ?? [];
    for (const id of [...this.opened.keys()].filter((each) => !waiting.some((item) => item.id === each))) {
      await this.closeOf(id);
    }
  }

  /** What was typed into it and not accepted is saved first, so that nothing is lost. */
  private async closeOf(id: string): Promise<void> {
    const uri = this.opened.get(id);
    if (uri !== undefined) {
      this.opened.delete(id);
      this.tellKeys();
      await close(uri);
    }
  }

  private tellKeys(): void {
    void vscode.commands.executeCommand(
      "setContext",
      "ullage.proposedEdits",
      [...this.opened.values()].map(({ path }) => path),
    );
  }
}

async function close(uri: vscode.Uri): Promise<void> {
  const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
  if (document?.isDirty === true && !(await document.save())) {
    return;
  }
  const tabs = vscode.window.tabGroups.all
    .flatMap(({ tabs: inGroup }) => inGroup)
    .filter(
      ({ input }) =>
        (input instanceof vscode.TabInputTextDiff && input.modified.toString() === uri.toString()) ||
        (input instanceof vscode.TabInputText && input.uri.toString() === uri.toString()),
    );
  await vscode.window.tabGroups.close(tabs, true);
}
