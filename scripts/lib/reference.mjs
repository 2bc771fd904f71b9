/**
 * The pages of docs/ that list settings and commands, in English and Chinese, from the manifest of the extension and its texts.
 *
 * Pure: `generate.mjs` writes them, and a test compares them with what lies in docs/.
 */

/**
 * @typedef {{type: string | string[], default: unknown, scope: string, markdownDescription: string, enum?: string[], enumDescriptions?: string[],
 *   minimum?: number, maximum?: number, order?: number}} Setting
 * @typedef {{command: string, title: string, category?: string}} Command
 * @typedef {object} Manifest
 * @property {{untrustedWorkspaces: {restrictedConfigurations: string[]}}} capabilities
 * @property {{configuration: {title: string, properties: Record<string, Setting>}[], commands: Command[],
 *   keybindings: {command: string, key: string, mac: string, when?: string}[],
 *   menus: Record<string, {command: string, when?: string}[]>}} contributes
 * @typedef {{name: string, argument?: string, summary: string}} SlashCommand
 */

/** The words of a page around what the manifest says. */
const ENGLISH = {
  ending: "",
  other: (/** @type {string} */ name) => `[中文](${name}.zh-cn.md)`,
  settings: "Settings",
  settingsIntro:
    "In VS Code's settings under *Ullage*, or in `settings.json`. Outside of VS Code a client sends the same ones: [PROTOCOL.md](../PROTOCOL.md) says how.",
  byDefault: "By default",
  from: "from",
  to: "to",
  value: "value",
  meaning: "meaning",
  empty: "empty",
  scopes: new Map([
    ["machine", "Of your machine: a workspace cannot set it."],
    ["machine-overridable", "Of your machine; a workspace may set it, too."],
    ["window", "Of the user or of a workspace."],
  ]),
  restricted: "Not taken from a workspace that is not trusted.",
  commands: "Commands and keys",
  commandsIntro: "After `F1` or `Ctrl+Shift+P`. Those that need something, such as an edit that waits, are listed only where there is one.",
  keysIntro: "All keys can be changed in VS Code's *Keyboard Shortcuts*.",
  inPalette: "From the command palette",
  inMenus: "From menus and buttons alone",
  typed: "Typed into the prompt box",
  command: "command",
  keys: "keys",
  onMac: "on macOS",
  does: "what it does",
  where: "where",
  places: new Map([
    ["comments/", "comments"],
    ["view/title", "title of the panel"],
    ["editor/title/context", "tabs of editors"],
    ["editor/title", "title of an editor"],
    ["editor/context", "editor"],
    ["explorer/", "explorer"],
    ["scm/", "source control"],
    ["testing/", "tests"],
    ["terminal/", "terminal"],
  ]),
  inPanel: "the panel",
  /** Between parts of a sentence. */
  separator: ", ",
  /** Between things of one kind. */
  alike: ", ",
};

/** @type {typeof ENGLISH} */
const CHINESE = {
  ending: ".zh-cn",
  other: (name) => `[English](${name}.md)`,
  settings: "设置",
  settingsIntro:
    "在 VS Code 设置的 *Ullage* 之下，或在 `settings.json` 中。在 VS Code 之外，客户端发送同样的设置: 见 [PROTOCOL.md](../PROTOCOL.md) (英文)。",
  byDefault: "默认值",
  from: "最小",
  to: "最大",
  value: "值",
  meaning: "含义",
  empty: "空",
  scopes: new Map([
    ["machine", "属于你的计算机: 工作区不能设置它。"],
    ["machine-overridable", "属于你的计算机，工作区也可以设置它。"],
    ["window", "属于用户或工作区。"],
  ]),
  restricted: "不受信任的工作区中的值不起作用。",
  commands: "命令和按键",
  commandsIntro: "按 `F1` 或 `Ctrl+Shift+P`。有些命令需要某种东西，例如等待批准的编辑；只有它存在时才列出。",
  keysIntro: "所有按键都可以在 VS Code 的 *键盘快捷方式* 中更改。",
  inPalette: "命令面板中的命令",
  inMenus: "只在菜单和按钮中的命令",
  typed: "在输入框中键入的命令",
  command: "命令",
  keys: "按键",
  onMac: "macOS 上",
  does: "作用",
  where: "位置",
  places: new Map([
    ["comments/", "注释"],
    ["view/title", "面板的标题"],
    ["editor/title/context", "编辑器的选项卡"],
    ["editor/title", "编辑器的标题"],
    ["editor/context", "编辑器"],
    ["explorer/", "资源管理器"],
    ["scm/", "源代码管理"],
    ["testing/", "测试"],
    ["terminal/", "终端"],
  ]),
  inPanel: "面板",
  separator: "，",
  alike: "、",
};

/**
 * The pages, by their names in docs/.
 *
 * @param {object} from
 * @param {Manifest} from.manifest
 * @param {Record<string, string>} from.english texts of the manifest
 * @param {Record<string, string>} from.chinese the same
 * @param {Record<string, string>} from.bundle Chinese texts of the extension, by their English ones
 * @param {readonly SlashCommand[]} from.slashCommands
 * @returns {Record<string, string>}
 */
export function referencePages({ manifest, english, chinese, bundle, slashCommands }) {
  /** @type {Record<string, string>} */
  const pages = {};
  for (const { words, texts, spoken } of [
    { words: ENGLISH, texts: english, spoken: (/** @type {string} */ text) => text },
    { words: CHINESE, texts: chinese, spoken: (/** @type {string} */ text) => bundle[text] ?? text },
  ]) {
    const said = (/** @type {string} */ text) => text.replaceAll(/^%(.+)%$/g, (whole, key) => texts[key] ?? whole);
    pages[`settings${words.ending}.md`] = settingsPage(manifest, words, said);
    pages[`commands${words.ending}.md`] = commandsPage(manifest, words, said, spoken, slashCommands);
  }
  return pages;
}

/** @param {Manifest} manifest @param {typeof ENGLISH} words @param {(text: string) => string} said */
function settingsPage(manifest, words, said) {
  const restricted = new Set(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations);
  const groups = manifest.contributes.configuration.map(({ title, properties }) => {
    const inOrder = Object.entries(properties).toSorted(([, one], [, other]) => (one.order ?? 0) - (other.order ?? 0));
    return [`## ${said(title)}`, ...inOrder.map(([name, each]) => settingText(name, each, words, said, restricted.has(name)))];
  });
  return page([`# ${words.settings}`, words.other("settings"), words.settingsIntro, ...groups.flat()]);
}

/** @param {string} name @param {Setting} setting @param {typeof ENGLISH} words @param {(text: string) => string} said @param {boolean} isRestricted */
function settingText(name, setting, words, said, isRestricted) {
  const limits = [
    ...(setting.minimum === undefined ? [] : [`${words.from} ${setting.minimum}`]),
    ...(setting.maximum === undefined ? [] : [`${words.to} ${setting.maximum}`]),
  ];
  const isEmpty = setting.default === "" || ["[]", "{}"].includes(JSON.stringify(setting.default));
  const value = isEmpty ? words.empty : `\`${typeof setting.default === "string" ? setting.default : JSON.stringify(setting.default)}\``;
  const facts = [
    `${words.byDefault}: ${[value, ...limits].join(words.separator)}`,
    words.scopes.get(setting.scope) ?? setting.scope,
    ...(isRestricted ? [words.restricted] : []),
  ];
  const values = (setting.enum ?? []).map((each, at) => [`\`${each}\``, said(setting.enumDescriptions?.[at] ?? "")]);
  return page([
    `### \`${name}\``,
    // VS Code's own form of a link to another setting
    said(setting.markdownDescription).replaceAll(/`#([\w.]+)#`/g, "`$1`"),
    ...(values.length === 0 ? [] : [table([words.value, words.meaning], values)]),
    facts.map((each) => `- ${each}`).join("\n"),
  ]).trimEnd();
}

/**
 * @param {Manifest} manifest @param {typeof ENGLISH} words @param {(text: string) => string} said
 * @param {(text: string) => string} spoken @param {readonly SlashCommand[]} slashCommands
 */
function commandsPage(manifest, words, said, spoken, slashCommands) {
  const { commands, keybindings, menus } = manifest.contributes;
  const hidden = new Set((menus["commandPalette"] ?? []).filter(({ when }) => when === "false").map(({ command }) => command));
  const title = (/** @type {Command} */ each) => (each.category === undefined ? "" : `${each.category}: `) + said(each.title);
  const keysOf = (/** @type {string} */ command, /** @type {"key" | "mac"} */ which) =>
    [...new Set(keybindings.filter((each) => each.command === command).map((each) => `\`${keyText(each[which])}\``))].join(words.alike);
  const placesOf = (/** @type {string} */ command) => {
    const at = Object.entries(menus).filter(
      ([menu, entries]) => menu !== "commandPalette" && entries.some((each) => each.command === command),
    );
    const places = at.map(([menu]) => [...words.places].find(([beginning]) => menu.startsWith(beginning))?.[1] ?? menu);
    return [...new Set(places.length === 0 ? [words.inPanel] : places)].join(words.alike);
  };
  const inPalette = commands.filter(({ command }) => !hidden.has(command));
  const inMenus = commands.filter(({ command }) => hidden.has(command));
  return page([
    `# ${words.commands}`,
    words.other("commands"),
    `## ${words.typed}`,
    table(
      [words.command, words.does],
      slashCommands.map(({ name, argument, summary }) => [`\`/${name}${argument === undefined ? "" : ` ${argument}`}\``, spoken(summary)]),
    ),
    `## ${words.inPalette}`,
    words.commandsIntro,
    words.keysIntro,
    table(
      [words.command, words.keys, words.onMac],
      inPalette.map((each) => [title(each), keysOf(each.command, "key"), keysOf(each.command, "mac")]),
    ),
    `## ${words.inMenus}`,
    table(
      [words.command, words.where],
      inMenus.map((each) => [title(each), placesOf(each.command)]),
    ),
  ]);
}

/** As VS Code shows it: `Ctrl+Alt+U`. @param {string} key */
function keyText(key) {
  return key
    .split("+")
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("+");
}

/** @param {string[]} heads @param {string[][]} rows */
function table(heads, rows) {
  return [row(heads), `|${heads.map(() => "---").join("|")}|`, ...rows.map(row)].join("\n");
}

/** @param {string[]} cells */
function row(cells) {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** @param {string[]} parts */
function page(parts) {
  return `${parts.join("\n\n")}\n`;
}
