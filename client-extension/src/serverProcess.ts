/** Starts the server's process, before there is anybody who speaks with it. No VS Code in here. */

import { spawn, type ChildProcess } from "node:child_process";
import type { ServerCommand } from "./serverCommand";

export interface ServerProcess {
  /** The process once it runs. Rejects with why it could not be started. */
  readonly started: Promise<ChildProcess>;
  kill(): void;
}

/** What it writes meanwhile waits in its pipes. */
export function startProcess({ command, args }: ServerCommand, options: { env: Record<string, string>; cwd: string }): ServerProcess {
  const child = spawn(command, args, options);
  const started = new Promise<ChildProcess>((resolve, reject) => {
    child.once("spawn", () => resolve(child));
    child.on("error", reject); // kept: a later error of a process has nobody else to go to
  });
  started.catch(() => undefined); // whoever waits for it is told; it may be that nobody does any more
  return { started, kill: () => void child.kill() };
}
