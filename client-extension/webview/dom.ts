/** Makes elements. Text goes in as text nodes only; nothing in the panel assigns `innerHTML`. */

import { keyInWords } from "../src/format";

type Child = Node | string | undefined | false;

type Properties<Tag extends keyof HTMLElementTagNameMap> = Partial<
  Omit<HTMLElementTagNameMap[Tag], "style" | "dataset" | "children" | "attributes">
> & {
  /** Attributes that are no properties, such as `aria-label`. */
  attributes?: Record<string, string>;
  on?: { [Name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Name]) => void };
};

/** An element with properties and children; undefined and false children are left out. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties<Tag> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const { attributes, on, ...rest } = properties;
  const made = document.createElement(tag);
  Object.assign(made, rest);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    made.setAttribute(name, value);
  }
  for (const [name, listener] of Object.entries(on ?? {})) {
    made.addEventListener(name, listener as EventListener);
  }
  made.append(...children.filter((child) => child !== undefined && child !== false));
  return made;
}

/** The class of buttons that change the session: they are not there where it can only be read (`data-read-only`). */
export const CHANGES = "changes-session";

/** An icon of the editor's icon font; hidden from screen readers. */
export function icon(name: string, className = ""): HTMLElement {
  return element("span", {
    className: `codicon codicon-${name} ${className}`.trim(),
    attributes: { "aria-hidden": "true" },
  });
}

interface ButtonOptions {
  label: string;
  onClick: () => void;
  icon?: string;
  className?: string;
  /** Tooltip; the label where it is left out and only an icon shows. */
  title?: string;
}

/** A key as it is written on the keyboard before the panel. */
export function keyHere(key: string): string {
  return keyInWords(key, document.defaultView?.navigator.platform.startsWith("Mac") === true);
}

/** A button that shows its label. */
export function textButton(options: ButtonOptions): HTMLButtonElement {
  return element(
    "button",
    { type: "button", className: `button ${options.className ?? ""}`.trim(), title: options.title ?? "", on: { click: options.onClick } },
    options.icon !== undefined && icon(options.icon),
    element("span", {}, ...withCode(options.label)),
  );
}

/** A button that shows an icon; the label is its tooltip and its name. */
export function iconButton(options: ButtonOptions & { icon: string }): HTMLButtonElement {
  return element(
    "button",
    {
      type: "button",
      className: `icon-button ${options.className ?? ""}`.trim(),
      title: options.title ?? options.label,
      attributes: { "aria-label": options.label },
      on: { click: options.onClick },
    },
    icon(options.icon),
  );
}

/** A short text with what stands between backticks as code. */
export function withCode(text: string): (string | HTMLElement)[] {
  return text.split("`").map((part, index) => (index % 2 === 1 ? element("code", { textContent: part }) : part));
}

/** Makes a text node's text `text`, by appending where it only grew. */
export function growText(node: Text, text: string): void {
  if (node.data === text) {
    return;
  }
  if (text.startsWith(node.data)) {
    node.appendData(text.slice(node.data.length));
  } else {
    node.data = text;
  }
}

/** Replaces the children of `parent`, leaving out undefined and false. */
export function setChildren(parent: Element, ...children: Child[]): void {
  parent.replaceChildren(...children.filter((child) => child !== undefined && child !== false));
}
