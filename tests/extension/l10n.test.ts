/** Texts in the user's language: values, plurals, what has no text, and where the language is set. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, test } from "node:test";
import { dateLanguage, plural, speak, t } from "../../client-extension/src/l10n";
import { askInLanguage, inLanguage, withTexts } from "../../client-extension/src/server/serverTexts";
import { CHINESE as chinese, EXTENSION } from "./chinese";

afterEach(() => speak("en"));

void describe("English is its own key", () => {
  test("what stands for a name in braces is put there", () => assert.equal(t("Open {path}", { path: "a.ts" }), "Open a.ts"));
  test("a value is not looked into", () => assert.equal(t("{a} of {b}", { a: "{b}", b: 2 }), "{b} of 2"));
  test("a name without a value stays", () => assert.equal(t("{count} files"), "{count} files"));
  for (const [count, words] of [
    [0, "0 files"],
    [1, "1 file"],
    [2, "2 files"],
    [21, "21 files"],
  ] as const) {
    test(`a count of ${count}`, () => assert.equal(plural(count, t("{count} file"), t("{count} files")), words));
  }
});

void describe("Chinese", () => {
  test("a text, with its values", () => {
    speak("zh-cn", chinese);
    assert.equal(t("Open {path}", { path: "a.ts" }), "打开 a.ts");
  });
  test("one form for every count", () => {
    speak("zh-cn", chinese);
    const words = [0, 1, 2].map((count) => plural(count, t("{count} file"), t("{count} files")));
    assert.deepEqual(words, ["0 个文件", "1 个文件", "2 个文件"]);
  });
  test("what it has no text for is English", () => {
    speak("zh-cn", {});
    assert.equal(t("Keep all"), "Keep all");
  });
  test("dates are written in the language of the texts", () => {
    speak("zh-cn", chinese);
    assert.match(new Date(0).toLocaleDateString(dateLanguage(), { dateStyle: "long" }), /年/);
  });
  test("the same text for one and for several: the language has one form", () => {
    for (const [one, text] of Object.entries(chinese).filter(([key]) =>
      /\{count\} (?:file|message|session|approval|request|prompt)\b/.test(key),
    )) {
      const several = one.replace(/\{count\} (\w+)/, "{count} $1s").replace("waits", "wait");
      if (several in chinese) {
        assert.equal(chinese[several], text, one);
      }
    }
  });
  test("no sentence was left in English", () => {
    const left = Object.entries(chinese).filter(([key, text]) => text === key && /[a-z]{2,} [a-z]{2,}/i.test(key));
    assert.deepEqual(left, []);
  });
});

for (const [name, language] of [
  ["src/extension.ts", "./editorLanguage"],
  ["webview/main.ts", "./hostLanguage"],
] as const) {
  test(`${name} takes the language over before it imports anything that has texts`, () => {
    const [first] = /^import .*$/m.exec(readFileSync(join(EXTENSION, name), "utf8")) ?? [];
    assert.equal(first?.split(";")[0], `import "${language}"`);
  });
}

const row = (role: string, title: string) => ({ role, title, tokensBefore: 1, tokensAfter: 1, fate: "kept" });

const spoken = (text: string) => {
  speak("zh-cn", chinese);
  return inLanguage(text);
};

void describe("what the server says", () => {
  test("a sentence, with what stands in it", () => assert.equal(spoken("Read src/a.py"), "读取 src/a.py"));
  test("a sentence in a sentence", () =>
    assert.equal(
      spoken("The server at http://127.0.0.1:8080 cannot be reached: nothing listens there. Press Continue to try again."),
      "无法连接到 http://127.0.0.1:8080: 该地址没有服务在监听。按“继续”重试。",
    ));
  test("what stands before a question", () =>
    assert.equal(spoken("It has changed since you were asked. Run `ls`"), "自询问你之后已有变化。运行 `ls`"));
  for (const [what, english, text] of [
    ["why a line is asked about", "`make` is not on the list of harmless commands", "`make` 不在无害命令列表中"],
    ["a reason within a reason", "it only reads, but could connect", "它只读取，但可能建立连接"],
    [
      "what a call asks for besides",
      "Run `git clone x`, with access to `example.org`, and let it change `.git` (files that can run programs or control tools later)",
      "运行 `git clone x`，可访问 `example.org`，并允许它更改 `.git` (这些文件以后可能运行程序或控制工具)",
    ],
    [
      "a list with and, and a comma within backticks",
      "Always allow `git log *` and exactly `echo a, b`",
      "始终允许 `git log *`、仅限 `echo a, b`",
    ],
    [
      "what a rule says",
      "Runs `npm test` with any words that stay in the workspace folder.",
      "运行: 带限于工作区文件夹内的任意参数的 `npm test`。",
    ],
    [
      "the lines of an answer",
      "41,200 of 160,000 tokens, at which it compacts; the model's window has 200,000.\n- system: 4,000",
      "已用 41,200 token，达到 160,000 时压缩；模型的窗口为 200,000。\n- system: 4,000",
    ],
    [
      "a list of commands",
      "- `/undo`: Undo the last compaction\n- `/new`: Start a new session",
      "- `/undo`: 撤消上次压缩\n- `/new`: 开始新会话",
    ],
    [
      "checkpoints",
      "1. before “Mend the gauge. Then go” (2 files)\n\n`/rewind NUMBER` goes back to before that turn, in files and conversation; `/rewind NUMBER files` in files alone.",
      "1. “Mend the gauge. Then go”之前 (2 个文件)\n\n`/rewind 编号` 返回到该轮次之前，包括文件和对话；`/rewind 编号 files` 仅返回文件。",
    ],
    [
      "a setting with a bad value",
      'The setting "Ullage › Compaction: Cap" must be a whole number of tokens, at least 1,000. Its default, None, is used',
      "设置“Ullage › Compaction: Cap”必须是整数 token 数，至少为 1,000。将使用其默认值 None",
    ],
    ["what could not be done to a file", "Cannot read the session: the file is damaged", "无法读取会话: 文件已损坏"],
    [
      "a reason and a remedy",
      "Run `ls`, not sandboxed: bubblewrap is not installed. Install it (Debian, Ubuntu: `apt install bubblewrap`; Fedora: `dnf install bubblewrap`).",
      "运行 `ls`，未使用沙盒: 未安装 bubblewrap。请安装它 (Debian、Ubuntu: `apt install bubblewrap`；Fedora: `dnf install bubblewrap`)。",
    ],
    ["a number is only digits", "It took a while and some more min", "It took a while and some more min"],
    ["two sentences, one of them not known", "Stopped. Something new.", "已停止。Something new."],
  ] as const) {
    test(what, () => assert.equal(spoken(english), text));
  }
  test("what is not known stays as it is", () => assert.equal(spoken("Something new"), "Something new"));
  test("only where the server says something: a prompt, an output and a title of the user stay", () => {
    speak("zh-cn", chinese);
    const sent = {
      title: "Stopped.",
      items: [
        { kind: "user", text: "Stopped." },
        { kind: "notice", text: "Stopped." },
        {
          kind: "toolCall",
          title: "Read a.py",
          output: "Stopped.",
          permission: [{ optionId: "allow_once", name: "Allow once", kind: "allow_once" }],
        },
      ],
    };
    assert.deepEqual(withTexts(sent), {
      title: "Stopped.",
      items: [
        { kind: "user", text: "Stopped." },
        { kind: "notice", text: "已停止。" },
        {
          kind: "toolCall",
          title: "读取 a.py",
          output: "Stopped.",
          permission: [{ optionId: "allow_once", name: "允许一次", kind: "allow_once" }],
        },
      ],
    });
  });
  test("rows of a preview: what the server names, and never the words of the user or of the model", () => {
    speak("zh-cn", chinese);
    const lines = [
      ...[row("tool", "Read a.py"), row("assistant", "Calls bash, read_file"), row("record", "Summary of an earlier compaction")],
      ...[row("notice", "A file changed"), row("user", "Rules"), row("assistant", "Read a.py first")],
    ];
    const restored = [{ path: "whole", note: "the beginning and an outline" }];
    const said = withTexts({ lines, restored });
    assert.deepEqual(
      said.lines.map(({ title }) => title),
      ["读取 a.py", "调用 bash, read_file", "先前压缩的摘要", "文件已更改", "Rules", "Read a.py first"],
    );
    assert.deepEqual(said.restored, [{ path: "whole", note: "开头、大纲" }]);
  });
  test("the parts of a call that is asked about: a command stays, whatever it looks like", () => {
    speak("zh-cn", chinese);
    const asked = { action: "command", parts: [{ text: "Read x", standing: "asked", why: "it is asked each time" }] };
    assert.deepEqual(withTexts(asked).parts, [{ text: "Read x", standing: "asked", why: "每次都会询问" }]);
  });
  test("a question: it is asked in the user's language, and answered in the words of the server", async () => {
    const message =
      "ANTHROPIC_BASE_URL in the environment names http://x.test as the model's address. Your API key and all that is said would be sent there. Did you set it?";
    const [there, not] = [{ title: "Send there", id: 1 }, { title: "Do not" }];
    const answered = async (language: string, press: (titles: string[]) => string | undefined) => {
      speak(language, chinese);
      const shown: string[] = [];
      const answer = await askInLanguage(message, [there, not], async (...words) => {
        shown.push(...words);
        return press(words.slice(1));
      });
      return { shown, answer };
    };
    const first = await answered("zh-cn", ([title]) => title);
    assert.deepEqual(first.shown.slice(1), ["发送到该处", "不发送"]);
    assert.match(first.shown[0] ?? "", /将 http:\/\/x\.test 指定为模型的地址/);
    assert.equal(first.answer, there, "the very action, so that nothing of it is lost");
    assert.equal((await answered("zh-cn", ([, title]) => title)).answer, not);
    assert.equal((await answered("zh-cn", () => undefined)).answer, null, "it was closed");
    assert.equal((await answered("en", () => "Send there")).answer, there);
  });
  test("in English nothing is copied", () => {
    const sent = { items: [] };
    assert.equal(withTexts(sent), sent);
  });
});
