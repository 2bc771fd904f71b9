/**
 * The MCP servers of the workspace: a list of them, their logs, and what the user does with one. The server of Ullage knows what they are
 * and do.
 */

import * as vscode from "vscode";
import { t } from "../l10n";
import { confirm, tell } from "../notify";
import type { McpServer } from "../protocol";
import type { ServerConnection } from "../server/connection";
import { labelText, visibleText } from "../visible";
import { newToTell, placeOf, STATE_ICONS, stateInWords, toldInWords, trustQuestion } from "./serversText";

/** Where the editor keeps which configurations the user was told of. */
const TOLD = "ullage.mcpTold";
const MOST_TOLD = 200;

/** Of the documents that show the log of a server. They cannot be written to. */
const LOG = "ullage-mcp-log";

/** Milliseconds in which changes count as one: several servers start at once. */
const SETTLED = 700;

interface ServerChoice extends vscode.QuickPickItem {
  /** The name of the server that a row is about. */
  server?: string;
  run?: () => Promise<unknown>;
}

export class McpServers implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly disposables: vscode.Disposable[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly connection: ServerConnection,
    private readonly memory: vscode.Memento,
  ) {
    this.disposables.push(
      this.changed,
      vscode.workspace.registerTextDocumentContentProvider(LOG, this),
      connection.onMcpChanged(() => {
        vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === LOG).forEach(({ uri }) => this.changed.fire(uri));
        clearTimeout(this.timer);
        this.timer = setTimeout(() => void this.tellOfNew(), SETTLED);
      }),
    );
  }

  /** Lists them, as they are while the list is open; with a name, those that fit it. @throws Error with a message for the user. */
  async show(name = ""): Promise<void> {
    const pick = vscode.window.createQuickPick<ServerChoice>();
    const over = Promise.withResolvers<ServerChoice | undefined>();
    pick.title = t("MCP servers");
    pick.value = name;
    pick.matchOnDescription = true;
    pick.keepScrollPosition = true;
    pick.busy = true;
    let newest = 0;
    const draw = async () => {
      const mine = (newest += 1);
      const { servers, problems } = await this.connection.request("ullage/mcp/list", {});
      if (mine !== newest) {
        return;
      }
      const at = pick.activeItems[0]?.server;
      pick.items = this.rows(servers, problems);
      pick.activeItems = pick.items.filter(({ server }) => server !== undefined && server === at);
      pick.busy = servers.some(({ state }) => state === "starting");
      pick.placeholder =
        servers.length === 0
          ? t("None is configured: in your settings, in .mcp.json or in .vscode/mcp.json")
          : t("Choose one to turn it on or off, to see its tools or its log");
    };
    pick.onDidAccept(() => {
      over.resolve(pick.selectedItems[0]);
      pick.hide();
    });
    pick.onDidHide(() => over.resolve(undefined));
    const following = this.connection.onMcpChanged(() => void draw().catch(() => undefined));
    pick.show();
    let chosen: ServerChoice | undefined;
    try {
      await draw();
      chosen = await over.promise;
    } finally {
      newest += 1; // an answer that still comes is not drawn any more
      following.dispose();
      pick.dispose();
    }
    await chosen?.run?.();
  }

  private rows(servers: readonly McpServer[], problems: readonly string[]): ServerChoice[] {
    const rows = servers.map((server): ServerChoice => ({
      server: server.name,
      label: `$(${STATE_ICONS[server.state]}) ${labelText(server.name)}`,
      description: labelText(stateInWords(server)),
      detail: labelText([placeOf(server), server.shown ?? ""].filter(Boolean).join(" · ")),
      run: () => this.showOne(server),
    }));
    const wrong = problems.map((problem): ServerChoice => ({ label: `$(warning) ${labelText(problem)}` }));
    const add: ServerChoice[] = [
      { label: "", kind: vscode.QuickPickItemKind.Separator },
      {
        label: `$(add) ${t("Add a server to your settings…")}`,
        run: async () => vscode.commands.executeCommand("workbench.action.openSettings", "ullage.mcp.servers"),
      },
    ];
    return [...rows, ...wrong, ...add];
  }

  private async showOne(server: McpServer): Promise<void> {
    const chosen = await vscode.window.showQuickPick<ServerChoice>(this.choices(server), {
      title: t("MCP server {name}", { name: labelText(server.name) }),
      placeHolder: labelText(stateInWords(server)),
    });
    await chosen?.run?.();
  }

  private choices(server: McpServer): ServerChoice[] {
    const { name, state, kind, tools } = server;
    const isOn = state !== "off" && state !== "untrusted";
    const usable = kind != null;
    const all: (ServerChoice | false)[] = [
      usable && !isOn && { label: `$(play) ${t("Turn on")}`, run: () => this.turnOn(server) },
      usable && state === "sign_in" && { label: `$(sign-in) ${t("Sign in…")}`, run: () => this.signIn(name) },
      usable && isOn && { label: `$(debug-restart) ${t("Restart")}`, run: () => this.restart(name) },
      usable && state !== "off" && { label: `$(circle-slash) ${t("Turn off")}`, run: () => this.turn(server, false) },
      server.signedIn === true && {
        label: `$(sign-out) ${t("Sign out")}`,
        run: () => this.signOut(name),
      },
      tools.length > 0 && { label: `$(tools) ${t("Show tools")}`, description: stateInWords(server), run: () => this.showTools(server) },
      { label: `$(output) ${t("Show log")}`, run: () => this.showLog(name) },
      { label: `$(go-to-file) ${t("Open the configuration")}`, description: placeOf(server), run: () => openConfiguration(server) },
    ];
    return all.filter((choice) => choice !== false);
  }

  private async turnOn(server: McpServer): Promise<void> {
    const { title, detail, button } = trustQuestion(server);
    if (!server.asks || (await confirm(title, detail, button))) {
      await this.turn(server, true);
    }
  }

  // What is done here shows in the list.

  private async turn({ name, fingerprint }: McpServer, on: boolean): Promise<void> {
    await this.connection.request("ullage/mcp/turn", { name, fingerprint, on });
    await this.show();
  }

  private async restart(name: string): Promise<void> {
    await this.connection.request("ullage/mcp/restart", { name });
    await this.show();
  }

  private async signOut(name: string): Promise<void> {
    await this.connection.request("ullage/mcp/signOut", { name });
    await this.show();
  }

  private async signIn(name: string): Promise<void> {
    await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: t("Sign in to {name} in your browser…", { name }), cancellable: true },
      async (_, stop) => this.connection.request("ullage/mcp/signIn", { name }, stop),
    );
    void tell(t("You are signed in to the MCP server {name}.", { name }));
  }

  private async showTools({ name, tools }: McpServer): Promise<void> {
    const items = tools.map((tool) => ({
      label: `$(tools) ${labelText(tool.name)}`,
      description: tool.readOnly === true ? t("only reads, says the server") : "",
      detail: labelText(tool.description),
    }));
    await vscode.window.showQuickPick(items, {
      title: t("Tools of the MCP server {name}", { name: labelText(name) }),
      placeHolder: t("In the server's words. The agent loads a tool when it needs it"),
      matchOnDetail: true,
    });
  }

  private async showLog(name: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: LOG, path: `/${name}.log`, query: name });
    this.changed.fire(uri); // one that is open already is read again
    const document = await vscode.languages.setTextDocumentLanguage(await vscode.workspace.openTextDocument(uri), "log");
    await vscode.window.showTextDocument(document, { preview: true });
  }

  /** What a server has said, or why that is not known if the server of Ullage refuses. */
  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    try {
      const { text } = await this.connection.request("ullage/mcp/log", { name: uri.query });
      return text === "" ? t("Nothing was said yet.") : visibleText(text);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** Says once of each configuration that it is there and waits for the user. */
  private async tellOfNew(): Promise<void> {
    const listed = await this.connection.request("ullage/mcp/list", {}).catch(() => undefined);
    const told = this.memory.get<string[]>(TOLD, []);
    const found = newToTell(listed?.servers ?? [], told);
    if (found.length === 0) {
      return;
    }
    await this.memory.update(TOLD, [...told, ...found.map(({ fingerprint }) => fingerprint)].slice(-MOST_TOLD));
    const show = t("Show servers");
    if ((await tell(toldInWords(found), show)) === show) {
      await vscode.commands.executeCommand("ullage.mcpServers");
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.disposables.forEach((each) => each.dispose());
  }
}

async function openConfiguration({ source, file }: McpServer): Promise<void> {
  if (file == null) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "ullage.mcp.servers");
    return;
  }
  const folders = vscode.workspace.workspaceFolders ?? [];
  const folder = folders.find(({ name }) => file === `${name}/${source}`) ?? folders[0];
  if (folder !== undefined) {
    await vscode.window.showTextDocument(vscode.Uri.joinPath(folder.uri, ...source.split("/")));
  }
}
