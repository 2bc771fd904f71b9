/** Images and PDFs that the model was shown: what they are, small, and opened by a click. */

import type { ShownMedia } from "../../src/protocol";
import { visibleLine } from "../../src/visible";
import type { Actions } from "../actions";
import { element, icon } from "../dom";

/** One button for each; `named` where nothing beside it says which file it is. */
export function drawMedia(media: readonly ShownMedia[], actions: Actions, named = false): HTMLElement[] {
  return media.map((shown) => drawOne(shown, actions, named));
}

function drawOne({ name, words, path }: ShownMedia, actions: Actions, named: boolean): HTMLElement {
  const label = named && name !== "" ? `${name}: ${words}` : words;
  const button = element("button", { type: "button", className: "media-button", title: `Open ${visibleLine(name || path)}` });
  button.append(
    thumbnail(path) ?? icon(path.endsWith(".pdf") ? "file-pdf" : "file-media"),
    element("bdi", { textContent: visibleLine(label) }),
  );
  button.addEventListener("click", () => actions.openFile(path));
  return button;
}

/** The image itself; undefined for a PDF, and where the panel cannot reach the folder. */
function thumbnail(path: string): HTMLImageElement | undefined {
  const folder = document.body.dataset.images ?? "";
  if (folder === "" || path.endsWith(".pdf")) {
    return undefined;
  }
  const image = element("img", { className: "thumbnail", alt: "", src: `${folder}/${path.slice(path.lastIndexOf("/") + 1)}` });
  image.addEventListener("error", () => image.replaceWith(icon("file-media"))); // its file is gone
  return image;
}
