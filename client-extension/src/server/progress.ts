/**
 * Work of the server whose progress is known in percent, such as undoing the changes of thousands of files: a notification shows it and can stop it.
 * All other work stays in the status bar, where the language client shows it by itself.
 */

import * as vscode from "vscode";
import type { Middleware, ProgressToken } from "vscode-languageclient/node";
import { inLanguage } from "./serverTexts";

interface ShownProgress {
  /** Percent so far. */
  done: number;
  report: (percent: number) => void;
  end: () => void;
}

/** @param cancel tells the server that the user stopped the work of that token */
export function showingProgress(cancel: (token: ProgressToken) => void): NonNullable<Middleware["handleWorkDoneProgress"]> {
  const shown = new Map<ProgressToken, ShownProgress>();
  return (token, sent, next) => {
    const params = sent.kind === "begin" ? { ...sent, title: inLanguage(sent.title) } : sent;
    const known = shown.get(token);
    if (params.kind === "begin" && params.percentage !== undefined) {
      shown.set(
        token,
        show(params.title, params.percentage, () => cancel(token)),
      );
    } else if (known === undefined) {
      next(token, params);
    } else if (params.kind === "report") {
      known.report(params.percentage ?? known.done);
    } else {
      shown.delete(token);
      known.end();
      next(token, params); // the library lets go of the token
    }
  };
}

function show(title: string, percent: number, cancel: () => void): ShownProgress {
  const ended = Promise.withResolvers<void>();
  const shown: ShownProgress = { done: 0, report: () => undefined, end: ended.resolve };
  const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title };
  void vscode.window.withProgress(options, (progress, cancelled) => {
    shown.report = (now) => {
      progress.report({ increment: Math.max(0, now - shown.done), message: `${now} %` });
      shown.done = Math.max(shown.done, now);
    };
    shown.report(percent);
    cancelled.onCancellationRequested(cancel);
    return ended.promise;
  });
  return shown;
}
