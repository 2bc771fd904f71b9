/** Takes the editor's language over. Imported first by `extension.ts`: texts at the top of other modules are made as these are imported. */

import * as vscode from "vscode";
import { speak } from "./l10n";

speak(vscode.l10n.bundle === undefined ? "en" : vscode.env.language, vscode.l10n.bundle);
