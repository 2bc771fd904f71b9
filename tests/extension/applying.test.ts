/** Code of an answer as a change of a file: which file, and where in it. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { imageType } from "../../client-extension/src/files/fileFacts";
import { placeCode } from "../../client-extension/src/files/placeCode";
import { namedPath } from "../../client-extension/webview/markdown/blocks";

const FILE = `import math

class Tank:
    def area(self):
        return math.pi * self.r ** 2

    def volume(self):
        a = self.area()
        return a * self.h


def main():
    print(Tank().volume())
`;

function applied(file: string, code: string): string | undefined {
  const placed = placeCode(file, code);
  return placed === undefined
    ? undefined
    : file
        .split("\n")
        .toSpliced(placed.start, placed.end - placed.start, ...placed.lines)
        .join("\n");
}

void describe("code takes the place of what it is a new version of", () => {
  test("a function that was shown without the indentation of its class", () => {
    const made = applied(FILE, "def volume(self):\n    return self.area() * self.h\n");
    assert.equal(made, FILE.replace("        a = self.area()\n        return a * self.h\n", "        return self.area() * self.h\n"));
  });
  test("the last function of a file", () => {
    assert.equal(applied(FILE, "def main():\n    pass"), FILE.replace("    print(Tank().volume())\n", "    pass\n"));
  });
  test("a block in braces with what closes it", () => {
    const file = "function a() {\n  return 1;\n}\n\nfunction b() {\n  return 2;\n}\n\nconst c = 1;\n";
    assert.equal(applied(file, "function b() {\n  return 3;\n}"), file.replace("return 2", "return 3"));
  });
  test("the whole file, where most of it is there", () => {
    const made = FILE.replace("import math", "import math\nimport sys").trimEnd();
    assert.equal(applied(FILE, made), `${made}\n`);
  });
  test("an empty file", () => assert.equal(applied("", "x = 1"), "x = 1\n"));
  for (const [why, code] of [
    ["is not there", "def other():\n    pass"],
    ["is there twice", "    def area(self):\n        pass"],
    ["is cut short", "def main():\n    # ... as before\n    pass"],
    ["is nothing", "\n\n"],
  ] as const) {
    const file = `${FILE}\nclass Other:\n    def area(self):\n        return 0\n\n    def more(self):\n        return 1\n`;
    test(`it is not guessed where its first line ${why}`, () => assert.equal(placeCode(file, code), undefined));
  }
});

void describe("the file that a block names", () => {
  for (const [info, content, path] of [
    ["python tankgauge/tank.py", "x = 1\n", "tankgauge/tank.py"],
    ["python:tankgauge/tank.py", "x = 1\n", "tankgauge/tank.py"],
    ['ts title="src/a.ts"', "x\n", "src/a.ts"],
    ["src/a.ts", "x\n", "src/a.ts"],
    ["python", "# tankgauge/tank.py\nx = 1\n", "tankgauge/tank.py"],
    ["css", "/* main.css */\na {}\n", "main.css"],
    ["html", "<!-- index.html -->\n", "index.html"],
    ["python", "# see the notes\nx = 1\n", undefined],
    ["python", "x = 1\n", undefined],
    ["", "", undefined],
  ] as const) {
    test(JSON.stringify([info, content]), () => assert.equal(namedPath(info, content), path));
  }
});

test("an image is known by its bytes, not by its name", () => {
  assert.equal(imageType(bytes("\x89PNG\r\n\x1a\n....")), "image/png");
  assert.equal(imageType(bytes("RIFF....WEBPVP8 ")), "image/webp");
  assert.equal(imageType(bytes("<svg onload='x'>")), undefined);
  assert.equal(imageType(bytes("")), undefined);
});

function bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
