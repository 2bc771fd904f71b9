/**
 * Processes: a program that is run to its end, and the server's, with what it writes to the log and how often it is started again. No shell, no
 * VS Code and no clock in here.
 */

import { type ChildProcess, spawn } from "node:child_process";
import type { ServerCommand } from "./command";

interface ProgramResult {
  /** Exit code; null where the program could not be started or was ended by a signal. */
  code: number | null;
  /** What it wrote to stdout and stderr, in order. */
  output: string;
}

interface RunOptions {
  cwd?: string;
  /** Environment variables beside ours. */
  env?: Readonly<Record<string, string>>;
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
    const { ANTHROPIC_API_KEY: _anthropic, OPENAI_API_KEY: _openai, ULLAGE_API_KEY: _own, ...env } = process.env;
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { ...env, ...options.env },
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

export interface ServerProcess {
  /** The process once it runs. Rejects with why it could not be started. */
  readonly started: Promise<ChildProcess>;
  kill(): void;
  /** Kills it where it has not ended by itself within two seconds. By then it has done what it was asked to do, or never will. */
  endSoon(): void;
}

/** Milliseconds that it has to end by itself. */
const GRACE = 2000;

/** What it writes meanwhile waits in its pipes. */
export function startProcess({ command, args }: ServerCommand, options: { env: Record<string, string>; cwd: string }): ServerProcess {
  const child = spawn(command, args, { ...options, windowsHide: true }); // else Windows opens a console for it
  const started = new Promise<ChildProcess>((resolve, reject) => {
    child.once("spawn", () => resolve(child));
    child.on("error", reject); // kept: a later error of a process has nobody else to go to
  });
  started.catch(() => undefined); // whoever waits for it is told; it may be that nobody does any more
  const kill = () => void child.kill();
  const endSoon = () => {
    const timer = setTimeout(kill, GRACE);
    child.once("exit", () => clearTimeout(timer));
    if (child.exitCode !== null || child.signalCode !== null) {
      clearTimeout(timer);
    }
  };
  return { started, kill, endSoon };
}

type LogLevel = "debug" | "info" | "warn" | "error";

export interface LogLine {
  level: LogLevel;
  text: string;
}

const LEVELS: Record<string, LogLevel> = {
  DEBUG: "debug",
  INFO: "info",
  WARNING: "warn",
  ERROR: "error",
  CRITICAL: "error",
};

const PREFIX = /^(DEBUG|INFO|WARNING|ERROR|CRITICAL)\b[:\s]*/;

/**
 * Reads lines such as `INFO ullage.lsp: ready`. A line without a level goes on with the one before it (a traceback after its error);
 * before any level it is an error, since what comes from outside of logging is a crash.
 */
export class LogLineReader {
  private rest = "";
  private level: LogLevel = "error";

  /** The whole lines that `chunk` completes. */
  read(chunk: string): LogLine[] {
    const lines = (this.rest + chunk).split(/\r?\n/);
    this.rest = lines.pop() ?? "";
    return lines.filter((line) => line.trim() !== "").map((line) => this.readLine(line));
  }

  private readLine(line: string): LogLine {
    const prefix = PREFIX.exec(line);
    if (prefix === null) {
      return { level: this.level, text: line };
    }
    this.level = LEVELS[prefix[1] ?? ""] ?? "info";
    return { level: this.level, text: line.slice(prefix[0].length) };
  }
}

const MOST_RESTARTS = 4;
const WITHIN_MILLISECONDS = 3 * 60 * 1000;

/** Allows 4 restarts in any 3 minutes: enough for a passing fault, too few for a loop. */
export class RestartPolicy {
  private readonly ends: number[] = [];

  /** Records that the server ended at `now` (milliseconds). True if it should be started again. */
  allowsRestart(now: number): boolean {
    while (this.ends[0] !== undefined && this.ends[0] <= now - WITHIN_MILLISECONDS) {
      this.ends.shift();
    }
    this.ends.push(now);
    return this.ends.length <= MOST_RESTARTS;
  }

  /** Forgets what was recorded: the user asked for a start. */
  reset(): void {
    this.ends.length = 0;
  }
}
