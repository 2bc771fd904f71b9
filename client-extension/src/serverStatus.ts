/** What the extension knows of the server process. No VS Code: the gauge and the panel both draw it. */

export interface ServerStatus {
  state: "starting" | "running" | "restarting" | "stopped";
  /** What happened or what is being done, for the user. */
  message?: string;
}
