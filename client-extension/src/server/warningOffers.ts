/** What a warning of the server leads to: a button beside it in the panel, and in the notification where nobody sees the panel. No VS Code and no DOM. */

import { t } from "../l10n";

interface WarningOffer {
  label: string;
  command: "ullage.openSettings" | "ullage.importSessions" | "ullage.addTeamPackages" | "ullage.setApiKey";
}

/** What is looked for is the same in every language, or is there in each that a warning can have. */
const OFFERS: readonly (WarningOffer & { about: RegExp })[] = [
  { about: new RegExp(`Set API key|${t("Set API key")}`), label: t("Set API key"), command: "ullage.setApiKey" },
  { about: /Ullage › |\bullage\.\w+\.\w+/, label: t("Open settings"), command: "ullage.openSettings" },
  { about: /`ullage import`/, label: t("Import"), command: "ullage.importSessions" },
  { about: /ullage\[postgres\]/, label: t("Install…"), command: "ullage.addTeamPackages" },
];

/** Those of that warning, in the user's language or as the server said it. */
export function offersBeside(warning: string): readonly WarningOffer[] {
  return OFFERS.filter(({ about }) => about.test(warning));
}
