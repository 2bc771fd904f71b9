/** Turns what the server writes to stderr into lines of the log, each with its level. No VS Code in here. */

export type LogLevel = "debug" | "info" | "warn" | "error";

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
