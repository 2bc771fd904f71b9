/** What is attached to the prompt that is being written, as chips; and what of a paste or a drop can be attached. */

import { nameInUri, uriHere, withLines } from "../../src/files/fileFacts";
import { t } from "../../src/l10n";
import type { AttachmentRef } from "../../src/protocol";
import { visibleLine } from "../../src/visible";
import { element, icon, iconButton, setChildren } from "../dom";

const ICONS: Record<AttachmentRef["kind"], string> = {
  file: "file",
  text: "note",
  problems: "warning",
  pasted: "file-media",
  page: "globe",
  resource: "plug",
};

export interface Attachment {
  name: string;
  ref: AttachmentRef;
}

/** What is attached, as chips that can be taken away. */
export class Attachments {
  readonly element = element("div", { className: "chips", attributes: { "aria-label": t("Attached") } });
  private attached: readonly Attachment[] = [];

  /** @param refuse says what could not be attached. */
  constructor(
    remembered: readonly Attachment[],
    private readonly changed: () => void,
    private readonly refuse: (message: string) => void,
  ) {
    this.draw(remembered);
  }

  get all(): readonly Attachment[] {
    return this.attached;
  }

  get refs(): readonly AttachmentRef[] {
    return this.attached.map(({ ref }) => ref);
  }

  /** Attaches it, once. */
  add(name: string, ref: AttachmentRef): void {
    const key = JSON.stringify(ref);
    if (!this.attached.some((known) => JSON.stringify(known.ref) === key)) {
      this.set([...this.attached, { name, ref }]);
    }
  }

  /** Attaches what was attached to a prompt of before. */
  addAgain(ref: AttachmentRef): void {
    this.add(nameOf(ref), ref);
  }

  /**
   * Attaches what was pasted or dropped: images, and files of the workspace. It says what cannot be attached, and drops nothing in silence.
   * Where
   * there are words, too (a cell of a table, say), the words are meant.
   */
  async take(event: Event, given: DataTransfer | null): Promise<void> {
    const images = pastedImages(given);
    const uris = fileUris(given);
    const others = otherFiles(given);
    if (images.length === 0 && uris.length === 0 && others.length === 0) {
      return;
    }
    event.preventDefault();
    uris.forEach((uri) => this.add(nameInUri(uri), { kind: "file", uri }));
    const isDropped = event.type === "drop"; // browsers call every image of the clipboard image.png
    const read =
      uris.length > 0 ? [] : images.map(async (image) => ({ data: await base64Of(image), name: isDropped ? image.name : undefined }));
    for (const { data, name } of await Promise.all(read)) {
      this.add(name ?? PASTED, { kind: "pasted", data, name });
    }
    if (uris.length === 0) {
      await this.takeTexts(others);
    }
  }

  /** Files from outside of the editor, of which only the text comes. */
  private async takeTexts(files: readonly File[]): Promise<void> {
    const texts = await Promise.all(files.map(async (file) => ({ name: file.name, text: await textIn(file) })));
    for (const { name, text } of texts) {
      if (text !== undefined) {
        this.add(name, { kind: "text", name, text });
      }
    }
    const refused = texts.filter(({ text }) => text === undefined).map(({ name }) => name);
    if (refused.length > 0) {
      this.refuse(
        t("{names} cannot be attached this way. Images and texts can; attach files of the workspace with @.", {
          names: refused.join(", "),
        }),
      );
    }
  }

  /** What was attached to a prompt that was not taken. */
  putBack(attached: readonly Attachment[]): void {
    this.set([...attached, ...this.attached]);
  }

  clear(): void {
    this.set([]);
  }

  private set(attached: readonly Attachment[]): void {
    this.draw(attached);
    this.changed();
  }

  private draw(attached: readonly Attachment[]): void {
    this.attached = attached;
    this.element.hidden = attached.length === 0;
    setChildren(this.element, ...attached.map((attachment) => this.drawChip(attachment)));
  }

  private drawChip(attachment: Attachment): HTMLElement {
    const remove = iconButton({
      label: t("Detach {name}", { name: visibleLine(attachment.name) }),
      icon: "close",
      onClick: () => this.set(this.attached.filter((known) => known !== attachment)),
    });
    return element(
      "span",
      { className: "chip" },
      icon(ICONS[attachment.ref.kind]),
      element("bdi", { textContent: visibleLine(attachment.name) }),
      remove,
    );
  }
}

/** What an image is called that was pasted. */
const PASTED = t("pasted image");

function nameOf(ref: AttachmentRef): string {
  switch (ref.kind) {
    case "file":
      return withLines(nameInUri(ref.uri), ref.lines ?? undefined);
    case "text":
      return ref.name;
    case "pasted":
      return ref.name ?? PASTED;
    case "problems":
      return t("problems");
    case "resource":
      return `${ref.server}: ${ref.uri}`;
    case "page":
      return ref.url.replace(/^https?:\/\//i, "");
  }
}

const TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** The images of a paste; none where it has words, too. */
function pastedImages(clipboard: DataTransfer | null): File[] {
  if (clipboard === null || clipboard.getData("text/plain") !== "") {
    return [];
  }
  return [...clipboard.files].filter(({ type }) => TYPES.has(type));
}

/** Files that are no images that can be attached; none where words came, too. */
function otherFiles(given: DataTransfer | null): File[] {
  if (given === null || given.getData("text/plain") !== "") {
    return [];
  }
  return [...given.files].filter(({ type }) => !TYPES.has(type));
}

/** Files and new documents of the editor or its explorer that were dropped or pasted. */
function fileUris(given: DataTransfer | null): string[] {
  const listed = given?.getData("application/vnd.code.uri-list") || given?.getData("text/uri-list") || "";
  const isRemote = document.body.dataset["remote"] !== undefined;
  return listed
    .split(/\r?\n/)
    .map((uri) => uriHere(uri, isRemote))
    .filter((uri) => uri !== undefined);
}

/** Bytes of the largest file from outside of which the text is attached. */
const LARGEST_TEXT = 200_000;

/** Its text; undefined if it is none, or too long. */
async function textIn(file: File): Promise<string | undefined> {
  if (file.size > LARGEST_TEXT) {
    return undefined;
  }
  const text = await file.text();
  return text === "" || /[\0\ufffd]/.test(text) ? undefined : text;
}

/** Bytes that become text at once: a call takes only that many arguments. */
const CHUNK = 8_192;

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK) {
    parts.push(String.fromCharCode(...bytes.subarray(at, at + CHUNK)));
  }
  return btoa(parts.join(""));
}
