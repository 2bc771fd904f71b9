/** The editor of rules, and the page that lists them: with the keyboard alone, as a screen reader names things. */

import { settle } from "./dom";
import { deferred } from "./deferred";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Allowed, Asking, CheckedRule, NewRule } from "../../client-extension/src/protocol";
import { Sheet } from "../../client-extension/webview/history/sheet";
import { PermissionsSheet, useInWords } from "../../client-extension/webview/permissions/permissionsSheet";
import { pastInWords, RuleEditor, type RuleEditorOptions } from "../../client-extension/webview/permissions/ruleEditor";
import { speak } from "../../client-extension/src/l10n";
import { recordingActions } from "./recordingActions";
import { ROOT } from "./repository";

const FINE: CheckedRule = { matches: [], matched: 0, of: 0, explanation: "Runs `x`." };
const BROKEN: CheckedRule = { matches: [], matched: 0, of: 0, problem: "A rule is for one command" };

const labelled = (root: ParentNode, label: string): HTMLElement => {
  const found = root.querySelector<HTMLElement>(`[aria-label="${label}"]`);
  assert.ok(found, `nothing is called ${label}`);
  return found;
};

const field = (root: ParentNode, label: string): HTMLInputElement => labelled(root, label) as HTMLInputElement;

const list = (root: ParentNode, label: string): HTMLSelectElement => labelled(root, label) as HTMLSelectElement;

const button = (root: ParentNode, label: string): HTMLButtonElement => {
  const found = [...root.querySelectorAll("button")].find((each) => each.textContent === label);
  assert.ok(found, `no button says ${label}`);
  return found;
};

function type(input: HTMLInputElement, text: string): void {
  input.value = text;
  input.dispatchEvent(new window.Event("input", { bubbles: true }));
}

function choose(select: HTMLSelectElement, value: string): void {
  select.value = value;
  select.dispatchEvent(new window.Event("change", { bubbles: true }));
}

function press(key: string, more: KeyboardEventInit = {}): boolean {
  const event = new window.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
  document.activeElement?.dispatchEvent(event);
  return event.defaultPrevented;
}

function editor(check: (rule: NewRule) => unknown, more: Partial<RuleEditorOptions> = {}) {
  const { actions, done } = recordingActions((_, params) => check((params as { rule: NewRule }).rule));
  const saved: NewRule[][] = [];
  const shown = new RuleEditor({
    actions,
    rules: [{ action: "command", pattern: "npm test *" }],
    saveLabel: "Save",
    save: async (rules) => void saved.push(rules),
    cancel: () => void done.push("cancelled"),
    ...more,
  });
  document.body.replaceChildren(shown.element);
  shown.focus();
  return { root: shown.element, saved, done, input: () => document.activeElement as HTMLInputElement };
}

void describe("the editor of rules", () => {
  test("says what a pattern means and what it would have covered, with what is still asked", async () => {
    const matches = [
      { text: "npm test -- -q", times: 3, at: 1, allowed: true },
      { text: "npm test && rm x", times: 1, at: 1, allowed: false },
      { text: "npm test -- live", times: 1, at: 1, allowed: false, refused: true },
    ];
    const { root } = editor(() => ({ ...FINE, warning: "That is wide.", matches, matched: 3, of: 8 }));
    await settle();
    const said = root.querySelector('[role="status"]')?.textContent ?? "";
    assert.match(said, /Runs x\..*That is wide\./s);
    const rows = [...root.querySelectorAll(".rule-match")].map((row) => row.textContent);
    assert.deepEqual(rows, [
      "npm test -- -q3×",
      "npm test && rm xstill asked: not all of it is covered",
      "npm test -- liverefused by another rule",
    ]);
    assert.match(root.textContent ?? "", /fits 3 of the 8 different calls/);
  });

  test("says each time that it has another height, so that its buttons can be kept in sight", async () => {
    let drawn = 0;
    const { input } = editor(() => FINE, { drawn: () => (drawn += 1) });
    await settle();
    type(input(), "npm *");
    await settle();
    assert.equal(drawn, 2);
  });

  for (const [what, answer, expected] of [
    ["saves what was typed as soon as it is known to be a rule", FINE, ["node *"]],
    ["does not save what turns out to be none", BROKEN, []],
  ] as const) {
    test(`${what}, where Enter was quicker than the answer, and once`, async () => {
      const first = deferred<CheckedRule>();
      const { input, saved } = editor(({ pattern }) => (pattern === "" ? first.promise : answer), {
        rules: [{ action: "command", pattern: "" }],
      });
      type(input(), "node *");
      press("Enter");
      press("Enter");
      assert.deepEqual(saved, []);
      first.resolve(BROKEN);
      await settle();
      assert.deepEqual(
        saved.flat().map(({ pattern }) => pattern),
        expected,
      );
    });
  }

  test("asks again for what was typed meanwhile, and once for all of it", async () => {
    const first = deferred<CheckedRule>();
    const asked: string[] = [];
    const { input, root } = editor(
      ({ pattern }) => (asked.push(pattern), asked.length === 1 ? first.promise : { ...FINE, explanation: pattern }),
    );
    for (const text of ["n", "no", "node *"]) {
      type(input(), text);
    }
    assert.deepEqual(asked, ["npm test *"]);
    first.resolve(FINE);
    await settle();
    assert.deepEqual(asked, ["npm test *", "node *"]);
    assert.match(root.textContent ?? "", /node \*/);
  });

  test("Enter saves with the scope that was chosen, and Escape leaves it", async () => {
    const { root, saved, done, input } = editor(() => FINE);
    await settle();
    const scope = list(root, "Where the rule holds");
    assert.equal(scope.value, "workspace");
    choose(scope, "session");
    await settle();
    assert.match(done.at(-1) ?? "", /"scope":"session"/, "what it would cover is asked for that scope");
    type(input(), "npm *");
    assert.equal(press("Enter"), true);
    await settle();
    assert.deepEqual(saved, [[{ action: "command", pattern: "npm *", scope: "session" }]]);
    assert.equal(press("Escape"), true);
    assert.equal(done.at(-1), "cancelled");
  });

  test("keys that belong to an input method neither save nor leave", async () => {
    const { saved, done } = editor(() => FINE);
    await settle();
    press("Enter", { isComposing: true });
    press("Escape", { isComposing: true });
    await settle();
    assert.deepEqual([saved.length, done.includes("cancelled")], [0, false]);
  });

  test("a broken pattern is said, marked and not saved", async () => {
    const { root, saved, input } = editor(({ pattern }) => (pattern.includes("&&") ? BROKEN : FINE));
    await settle();
    type(input(), "a && b");
    await settle();
    assert.match(root.querySelector(".rule-problem")?.textContent ?? "", /one command/);
    assert.equal(input().getAttribute("aria-invalid"), "true");
    button(root, "Save").focus();
    button(root, "Save").click();
    await settle();
    assert.deepEqual(saved, []);
    assert.equal(document.activeElement, labelled(root, "Always allow"), "the focus is where it can be mended");
    type(input(), "a");
    await settle();
    assert.equal(input().getAttribute("aria-invalid"), "false");
  });

  test("what the server refuses is said as an alert, and can be mended", async () => {
    let refuses = true;
    const { root, input } = editor(() => FINE, { save: async () => (refuses ? Promise.reject(new Error("The disk is full")) : undefined) });
    await settle();
    press("Enter");
    await settle();
    const alert = [...root.querySelectorAll<HTMLElement>('[role="alert"]')].find((each) => !each.hidden);
    assert.equal(alert?.textContent, "The disk is full");
    assert.equal(document.activeElement, input());
    refuses = false;
    press("Enter");
    await settle();
    assert.equal(alert?.hidden, true);
  });

  test("a rule that refuses is named so, and says what it would refuse", async () => {
    const matches = [{ text: "git push", times: 1, at: 1, allowed: false, refused: true }];
    const { root, saved } = editor(() => ({ ...FINE, matches, matched: 1, of: 1 }), { anyAction: true });
    await settle();
    choose(list(root, "What the rule does"), "refuse");
    await settle();
    assert.equal(labelled(root, "What it would refuse").textContent, "git push", "nothing is still asked: it is refused");
    field(root, "Never allow").focus();
    press("Enter");
    await settle();
    assert.deepEqual(saved, [[{ action: "command", pattern: "npm test *", refuses: true, scope: "workspace" }]]);
  });

  test("several rules are saved together, or none of them", async () => {
    const rules = [
      { action: "command", pattern: "a" },
      { action: "host", pattern: "bad &&" },
    ] as const;
    const { root, saved } = editor(({ pattern }) => (pattern.includes("&&") ? BROKEN : FINE), { rules });
    await settle();
    press("Enter");
    await settle();
    assert.deepEqual(saved, []);
    const second = root.querySelectorAll<HTMLInputElement>(".rule-pattern")[1];
    assert.equal(document.activeElement, second);
  });

  test("the list says what there is to cover", () => {
    assert.match(pastInWords(0, 0), /no call of this kind/);
    assert.match(pastInWords(1, 1), /fits 1 of 1 call of this kind/);
  });
});

const RULE: Allowed = {
  action: "command",
  pattern: "npm *",
  name: "`npm *`",
  scope: "workspace",
  explanation: "Runs `npm`.",
  used: 2,
  since: 1,
  lastUsed: 2,
};
const NEVER: Allowed = { ...RULE, pattern: "git push *", name: "`git push *`", explanation: "Refuses it.", used: 0, refuses: true };

async function page(allowed: Allowed[], asking: Asking | (() => Asking) = { wanted: "notHarmless", inForce: "notHarmless" }) {
  let rules = allowed;
  const answered = () => (typeof asking === "function" ? asking() : asking);
  const { actions, done } = recordingActions((method) =>
    method === "ullage/permission/list" ? { allowed: rules, asking: answered() } : FINE,
  );
  const place = new Sheet(
    () => undefined,
    () => undefined,
  );
  document.body.replaceChildren(place.element);
  const sheet = new PermissionsSheet(actions, place);
  sheet.open();
  await settle();
  const names = () => [...place.element.querySelectorAll(".rule-name")].map((name) => name.textContent);
  return { root: place.element, actions, done, names, set: (now: Allowed[]) => void (rules = now) };
}

void describe("the page of permissions", () => {
  test("lists rules by their scope, those that refuse first, with how often they were used", async () => {
    const { root, names } = await page([{ ...RULE, scope: "everywhere" }, RULE, NEVER, { ...RULE, scope: "session", since: undefined }]);
    assert.deepEqual(names(), ["npm *", "Never git push *", "npm *", "npm *"]);
    assert.deepEqual(
      [...root.querySelectorAll("h3")].map((title) => title.textContent),
      ["In this session", "In this workspace", "Everywhere"],
    );
    assert.match(root.querySelector(".rule")?.textContent ?? "", /Made by an earlier version\. Used 2 times\. Last: /);
    assert.match(root.querySelector(".refuses")?.textContent ?? "", /Refuses it\..*It has refused nothing yet\./s);
  });

  test("a rule that refuses says how often it did, and one that allows how often it was used", () => {
    const seen = { ...RULE, since: undefined, lastUsed: undefined };
    assert.match(useInWords({ ...seen, used: 1 }), /Used 1 time\.$/);
    assert.match(useInWords({ ...seen, used: 2, refuses: true }), /Refused 2 times\.$/);
    assert.match(useInWords({ ...seen, used: 1, refuses: true }), /Refused 1 time\.$/);
    speak("zh-cn", JSON.parse(readFileSync(join(ROOT, "client-extension/l10n/bundle.l10n.zh-cn.json"), "utf8")) as Record<string, string>);
    assert.match(useInWords({ ...seen, used: 2, refuses: true }), /已拒绝 2 次。$/);
    speak("en");
  });

  test("reading can only be refused: choosing it turns the rule round", async () => {
    const { root, saved } = editor(() => FINE, { anyAction: true, rules: [{ action: "command", pattern: "**/.env" }] });
    await settle();
    choose(list(root, "What the rule is about"), "read");
    await settle();
    assert.equal(list(root, "What the rule does").value, "refuse");
    button(root, "Save").click();
    await settle();
    assert.deepEqual(saved, [[{ action: "read", pattern: "**/.env", refuses: true, scope: "workspace" }]]);
  });

  test("says where there are none, and offers nothing to revoke", async () => {
    const { root } = await page([]);
    assert.match(root.querySelector(".rules")?.textContent ?? "", /There are no rules/);
    assert.equal(button(root, "Revoke all").hidden, true);
  });

  test("a rule is revoked with the keyboard, and the focus goes on to the next", async () => {
    const { root, done, set, names } = await page([RULE, NEVER]);
    const revoke = [...root.querySelectorAll<HTMLButtonElement>('[aria-label="Revoke this rule"]')][1];
    revoke?.focus();
    set([NEVER]);
    revoke?.click();
    await settle();
    assert.match(
      done.find((each) => each.startsWith("ullage/permission/forget")) ?? "",
      /"action":"command","pattern":"npm \*","scope":"workspace"/,
    );
    assert.deepEqual(names(), ["Never git push *"]);
    assert.equal(document.activeElement?.getAttribute("aria-label"), "Change this rule");
    set([]);
    labelled(root, "Revoke this rule").click();
    await settle();
    assert.equal(document.activeElement?.textContent, "Add a rule…", "where none is left, to what can be done next");
  });

  test("all of them are revoked after a second look", async () => {
    const { root, done, set } = await page([RULE, NEVER]);
    button(root, "Revoke all").click();
    assert.ok(!done.some((each) => each.startsWith("ullage/permission/forget")));
    set([]);
    button(root, "Really revoke 2 rules?").click();
    await settle();
    assert.ok(done.includes("ullage/permission/forget {}"));
    assert.match(root.textContent ?? "", /There are no rules/);
  });

  test("a changed rule replaces the one that it was, and stays what it was until then", async () => {
    const { root, done } = await page([NEVER]);
    labelled(root, "Change this rule").click();
    await settle();
    const input = field(root, "Never allow");
    assert.equal(document.activeElement, input);
    type(input, "git push --force *");
    press("Enter");
    await settle();
    const was = { action: "command", pattern: "git push *", scope: "workspace", refuses: true };
    const sent = JSON.stringify({
      rule: { action: "command", pattern: "git push --force *", refuses: true, scope: "workspace" },
      replaces: was,
    });
    assert.ok(done.includes(`ullage/permission/allow ${sent}`), done.join("\n"));
    assert.equal(document.activeElement?.textContent, "Add a rule…");
  });

  test("a new rule begins empty, of any kind, and Escape leaves everything as it was", async () => {
    const { root, done, names } = await page([RULE]);
    button(root, "Add a rule…").click();
    await settle();
    assert.equal(field(root, "Always allow").value, "");
    choose(list(root, "What the rule is about"), "host");
    await settle();
    assert.match(done.at(-1) ?? "", /"action":"host"/);
    labelled(root, "Always allow").focus();
    press("Escape");
    await settle();
    assert.equal(root.querySelector(".rule-editor"), null);
    assert.ok(!done.some((each) => each.startsWith("ullage/permission/allow")));
    assert.deepEqual(names(), ["npm *"]);
    assert.equal(document.activeElement?.textContent, "Add a rule…");
  });

  test("the way of asking is chosen here, and one that cannot be says why", async () => {
    const { root, done } = await page([], { wanted: "notHarmless", inForce: "notHarmless", noSandbox: "bwrap is not installed" });
    const ways = [...root.querySelectorAll<HTMLInputElement>('input[name="ask-for"]')];
    assert.deepEqual(
      ways.map(({ value, checked, disabled }) => [value, checked, disabled]),
      [
        ["everything", false, false],
        ["notHarmless", true, false],
        ["outsideSandbox", false, true],
      ],
    );
    assert.match(root.textContent ?? "", /needs a sandbox that works, and bwrap is not installed\./);
    ways[0]?.click();
    assert.ok(done.includes("command ullage.askFor everything"));
    assert.equal((document.activeElement as HTMLInputElement).value, "everything");
  });

  test("a way of asking is not in force before the server says so", async (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    let asking: Asking = { wanted: "notHarmless", inForce: "notHarmless" };
    const { root } = await page([], () => asking);
    const way = (value: string) => root.querySelector<HTMLInputElement>(`input[value="${value}"]`);
    const isPending = () => /Not in force yet/.test(root.textContent ?? "");
    way("everything")?.click();
    await settle();
    assert.deepEqual([way("everything")?.checked, isPending()], [true, true]);
    asking = { wanted: "everything", inForce: "everything" };
    context.mock.timers.tick(1_000);
    await settle();
    assert.deepEqual([way("everything")?.checked, isPending()], [true, false]);
    assert.equal((document.activeElement as HTMLInputElement).value, "everything");
  });

  test("a way of asking that the server never takes over is taken back", async (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const { root } = await page([], { wanted: "notHarmless", inForce: "notHarmless" });
    root.querySelector<HTMLInputElement>('input[value="everything"]')?.click();
    for (let tick = 0; tick < 25; tick += 1) {
      await settle();
      context.mock.timers.tick(1_000);
    }
    await settle();
    assert.equal(root.querySelector<HTMLInputElement>('input[value="notHarmless"]')?.checked, true);
    assert.doesNotMatch(root.textContent ?? "", /Not in force yet/);
  });

  test("what cannot be listed is said", async () => {
    const { actions } = recordingActions(() => Promise.reject(new Error("The server is gone")));
    const place = new Sheet(
      () => undefined,
      () => undefined,
    );
    document.body.replaceChildren(place.element);
    new PermissionsSheet(actions, place).open();
    await settle();
    assert.equal(place.element.querySelector('[role="alert"]')?.textContent, "The server is gone");
  });
});
