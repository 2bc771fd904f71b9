/** What completes a word in the prompt box: commands after `/`, and after `@` what can be attached. */

import { t } from "../../src/l10n";
import type { AttachmentRef } from "../../src/protocol";
import type { Actions } from "../actions";
import { asMention, isPageAddress, type Mention, mentionsFor, OfferedResources, typedAfterAt, withMention } from "./mentions";
import { matchSlashCommands, typedAfterSlash } from "./slashCommands";
import { type Completion, CompletionMenu } from "./typing";

/** What the composer does once something is chosen. */
interface Chosen {
  replaceText(text: string): void;
  submit(): void;
  attach(label: string, ref: AttachmentRef): void;
  gather(name: Mention["name"]): void;
  /** Attaches the pages that the text names. */
  takePages(): void;
}

export class Completing {
  readonly menu: CompletionMenu;
  private readonly resources: OfferedResources;
  private lastQuery = 0;
  /** The list in sight is of what was typed before: the one of what stands there now is still asked for. */
  private isOld = false;
  /** The key that chooses from that list, pressed before it is there. */
  private pressed: string | undefined;

  constructor(
    private readonly box: HTMLTextAreaElement,
    private readonly actions: Actions,
    private readonly composer: Chosen,
  ) {
    this.menu = new CompletionMenu(box);
    this.resources = new OfferedResources(async () => (await actions.ask("ullage/mcp/list", {})).servers);
  }

  /** Follows what stands before the cursor. */
  async complete(): Promise<void> {
    this.lastQuery += 1;
    this.isOld = false;
    this.pressed = undefined;
    const query = this.lastQuery;
    const beforeCursor = this.box.value.slice(0, this.box.selectionStart);
    const typed = typedAfterSlash(beforeCursor);
    if (typed !== undefined) {
      const own = matchSlashCommands(beforeCursor).map((each) =>
        this.commandCompletion(each.name, each.argument, each.summary, "terminal"),
      );
      this.menu.show(own);
      const brought = await this.projectCommands(typed);
      const isAsShown = typedAfterSlash(this.box.value.slice(0, this.box.selectionStart)) === typed && this.menu.isOpen === own.length > 0;
      if (query === this.lastQuery && isAsShown) {
        this.menu.add(brought);
      }
      return;
    }
    const mention = typedAfterAt(beforeCursor);
    this.isOld = mention !== undefined;
    const completions = mention === undefined ? [] : await this.mentionCompletions(mention);
    if (query !== this.lastQuery) {
      return;
    }
    this.isOld = false;
    this.menu.show(completions);
    if (this.pressed !== undefined) {
      this.menu.takeKey(this.pressed);
      return;
    }
    const resources = mention === undefined ? [] : await this.resources.matching(mention);
    if (query === this.lastQuery && resources.length > 0 && this.menu.isOpen === completions.length > 0) {
      const attach = ({ label, written, ref }: (typeof resources)[number]) =>
        this.acceptMention(written, () => this.composer.attach(label, ref));
      this.menu.add(resources.map((each) => ({ ...each, accept: () => attach(each) })));
    }
  }

  /** True if the key is the menu's. Whoever types fast chooses from the list of what they typed, and not from the one before it. */
  takeKey(key: string): boolean {
    if (this.isOld && this.menu.isOpen && (key === "Enter" || key === "Tab")) {
      this.pressed = key;
      return true;
    }
    return this.menu.takeKey(key);
  }

  /** Commands and skills of the project that begin with what was typed. */
  private async projectCommands(typed: string): Promise<Completion[]> {
    const listed = await this.actions.ask("ullage/command/list", {}).catch(() => undefined);
    return (listed?.commands ?? [])
      .filter(({ name, source }) => source != null && name.startsWith(typed.toLowerCase()))
      .map(({ name, description, input }) => this.commandCompletion(name, input?.hint, description, "book"));
  }

  private commandCompletion(name: string, argument: string | undefined, summary: string, icon: string): Completion {
    return {
      label: `/${name}`,
      argument,
      detail: summary,
      icon,
      accept: () => {
        const typedInFull = this.box.value === `/${name}`;
        this.composer.replaceText(`/${name} `);
        if (argument === undefined || typedInFull) {
          this.composer.submit();
        }
      },
    };
  }

  private async mentionCompletions(typed: string): Promise<Completion[]> {
    if (/^https?:/i.test(typed)) {
      const accept = () => this.acceptMention(typed, () => this.composer.takePages());
      return isPageAddress(typed) ? [{ label: typed, detail: t("Fetched once, when you send it"), icon: "globe", accept }] : [];
    }
    const files = await this.actions.findFiles(typed).catch(() => []);
    const named = mentionsFor(typed).map((each): Completion => {
      const accept = () => this.acceptMention(each.label, () => this.composer.gather(each.name));
      return { label: each.label, detail: each.detail, icon: each.icon, accept };
    });
    const found = files.map((file): Completion => {
      const { label, detail, icon, written, attached, ref } = asMention(file);
      return { label, detail, icon, accept: () => this.acceptMention(written, () => this.composer.attach(attached, ref)) };
    });
    return [...named, ...found];
  }

  private acceptMention(name: string, attach: () => void): void {
    const cursor = this.box.selectionStart;
    const before = withMention(this.box.value.slice(0, cursor), name);
    const after = this.box.value.slice(cursor);
    this.composer.replaceText(before + after);
    this.box.setSelectionRange(before.length, before.length);
    attach();
  }
}
