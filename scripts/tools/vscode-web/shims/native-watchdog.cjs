/**
 * Stands in for @vscode/native-watchdog, which is compiled at installation, and here nothing is.
 *
 * It ends an extension host when the server that started it is gone.
 */

"use strict";

exports.start = (pid) => {
  const timer = setInterval(() => {
    try {
      process.kill(pid, 0);
    } catch {
      process.exit(0);
    }
  }, 1000);
  timer.unref();
};

exports.exit = (code) => process.exit(code ?? 0);
