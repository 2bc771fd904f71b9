/** Takes the language over that the host wrote into the page. Imported first by `main.ts`, for the reason that `src/editorLanguage.ts` names. */

import { speak } from "../src/l10n";

const bundle = document.getElementById("l10n")?.textContent;
speak(document.documentElement.lang || "en", bundle ? (JSON.parse(bundle) as Record<string, string>) : {});
