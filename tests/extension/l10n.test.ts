/** Texts in the user's language: values, plurals, what has no text, and where the language is set. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, test } from "node:test";
import { dateLanguage, plural, speak, t } from "../../client-extension/src/l10n";
import { inLanguage, withTexts } from "../../client-extension/src/server/serverTexts";
import { ROOT } from "./repository";

const EXTENSION = join(ROOT, "client-extension");
const textsOf = (name: string) => JSON.parse(readFileSync(join(EXTENSION, name), "utf8")) as Record<string, string>;
const chinese = textsOf("l10n/bundle.l10n.zh-cn.json");

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
  test("in English nothing is copied", () => {
    const sent = { items: [] };
    assert.equal(withTexts(sent), sent);
  });
});
