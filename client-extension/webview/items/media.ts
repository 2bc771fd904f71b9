/** Images and PDFs that the model was shown: what they are, small, and opened by a click. */

import type { ShownMedia } from "../../src/protocol";
import { visibleLine } from "../../src/visible";
import type { Actions } from "../actions";
import { element, icon } from "../dom";
import type { ImageFile } from "../messages";

/** One button for each; `named` where nothing beside it says which file it is. */
export function drawMedia(media: readonly ShownMedia[], actions: Actions, named = false): HTMLElement[] {
  return media.map((shown) => drawOne(shown, actions, named));
}

function drawOne({ name, words, path }: ShownMedia, actions: Actions, named: boolean): HTMLElement {
  const label = named && name !== "" ? `${name}: ${words}` : words;
  const button = element("button", { type: "button", className: "media-button", title: `Open ${visibleLine(name || path)}` });
  button.append(path.endsWith(".pdf") ? icon("file-pdf") : thumbnail(path, actions), element("bdi", { textContent: visibleLine(label) }));
  button.addEventListener("click", () => actions.openFile(path));
  return button;
}

/** The image itself, as soon as the host has read it; until then, and where its file is gone, a sign for one. */
function thumbnail(path: string, actions: Actions): HTMLElement {
  const sign = icon("file-media");
  const image = element("img", { className: "thumbnail", alt: "" });
  const show = ({ bytes, mediaType }: ImageFile) => {
    const address = URL.createObjectURL(new Blob([bytes], { type: mediaType }));
    image.addEventListener("load", () => URL.revokeObjectURL(address));
    image.addEventListener("error", () => {
      URL.revokeObjectURL(address);
      image.replaceWith(sign); // it says that it is an image and is none
    });
    image.src = address;
    sign.replaceWith(image);
  };
  actions.readImage(path).then(show, () => undefined);
  return sign;
}
