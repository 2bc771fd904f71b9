import assert from "node:assert/strict";
import { test } from "node:test";
import { linkTarget, type LinkTarget } from "../../client-extension/webview/markdown/inline";

function check(href: string, expected: LinkTarget): void {
  test(`${JSON.stringify(href)} leads to ${expected.kind}`, () => assert.deepEqual(linkTarget(href), expected));
}

check("https://example.org/a?b#c", { kind: "web", href: "https://example.org/a?b#c" });
check("HTTP://example.org", { kind: "web", href: "HTTP://example.org" });
check("src/tank.py", { kind: "file", path: "src/tank.py" });
check("src/tank.py#L18", { kind: "file", path: "src/tank.py", line: 18 });
check("src/tank.py#L18-L20", { kind: "file", path: "src/tank.py", line: 18 });
check("src/tank.py:18", { kind: "file", path: "src/tank.py", line: 18 });
check("tank.py:18:4", { kind: "file", path: "tank.py", line: 18 });
check("/work/src/tank.py", { kind: "file", path: "/work/src/tank.py" });
check("file:///work/a%20b.py#L3", { kind: "file", path: "/work/a b.py", line: 3 });
check("C:\\work\\tank.py", { kind: "file", path: "C:\\work\\tank.py" });
check("javascript:alert(1)", { kind: "none" });
check(" JAVASCRIPT:alert(1)", { kind: "none" });
check("data:text/html,x", { kind: "none" });
check("command:workbench.action.quit", { kind: "none" });
check("vscode://settings", { kind: "none" });
check("mailto:a@example.org", { kind: "none" });
check("//example.org/a", { kind: "none" });
check("#section", { kind: "none" });
check("", { kind: "none" });
check("a%", { kind: "none" });
