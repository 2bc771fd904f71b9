/** Starts the server's process, before there is anybody who speaks with it. No VS Code in here. */

import { spawn, type ChildProcess } from "node:child_process";
import type { ServerCommand } from "./serverCommand";

export interface ServerProcess {
  /** The process once it runs. Rejects with why it could not be started. */
  readonly started: Promise<ChildProcess>;
  kill(): void;
  /** Kills it where it has not ended by itself within two seconds. What it was asked to do is done by then, or never. */
  endSoon(): void;
}

/** Milliseconds that it has to end by itself. */
const GRACE = 2000;

/** What it writes meanwhile waits in its pipes. */
export function startProcess({ command, args }: ServerCommand, options: { env: Record<string, string>; cwd: string }): ServerProcess {
  const child = spawn(command, args, options);
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
