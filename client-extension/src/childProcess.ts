/** Runs a program to its end and gives its output. No shell, no VS Code. */

import { spawn } from "node:child_process";

export interface ProgramResult {
  /** Exit code; null where the program could not be started or was ended by a signal. */
  code: number | null;
  /** What it wrote to stdout and stderr, in order. */
  output: string;
}

export interface RunOptions {
  cwd?: string;
  /** Called with every line as it is written. */
  onLine?: (line: string) => void;
  signal?: AbortSignal;
  /** Milliseconds after which the program is ended. */
  timeout?: number;
}

export type RunProgram = (command: string, args: readonly string[], options?: RunOptions) => Promise<ProgramResult>;

/** Runs `command` without a shell. Never rejects: a program that cannot be started has the code null and says why in its output. */
export const runProgram: RunProgram = (command, args, options = {}) =>
  new Promise((resolve) => {
    const { ANTHROPIC_API_KEY: _key, ...env } = process.env;
    const child = spawn(command, args, {
      cwd: options.cwd,
      env,
      signal: options.signal,
      timeout: options.timeout,
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
    });
    let output = "";
    let line = "";
    const take = (chunk: string) => {
      output += chunk;
      const lines = (line + chunk).split(/\r?\n/);
      line = lines.pop() ?? "";
      lines.forEach((whole) => options.onLine?.(whole));
    };
    child.stdout.setEncoding("utf8").on("data", take);
    child.stderr.setEncoding("utf8").on("data", take);
    child.once("error", (error) => resolve({ code: null, output: `${output}${error.message}\n` }));
    child.once("close", (code) => resolve({ code, output }));
  });
