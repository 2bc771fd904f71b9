/** Words of others for places where VS Code reads more than words. Pure. */

import { visibleLine } from "./visible";

/** For a notification, where `[text](target)` would be a link. */
export function notificationText(text: string): string {
  return visibleLine(text).replaceAll("](", "] (");
}

/** For a label, a status bar item or a quick pick, where `$(name)` would be an icon. */
export function labelText(text: string): string {
  return visibleLine(text).replace(/\$\((?=[a-z])/gi, "\\$(");
}

/** With one full stop at its end, whatever it ended with. */
export function sentence(text: string): string {
  return /[.!?…]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`;
}
