/** The page of `ullage replay --report` in a browser: it needs nothing but itself, can be sorted, and fits a phone. */

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import { ROOT, VENV_PYTHON } from "../../scripts/lib/paths.mjs";
import { quietly } from "../../scripts/lib/processes.mjs";
import { launchBrowser } from "./harness/browser.mjs";

/** @typedef {import("playwright-core").Browser} Browser */
/** @typedef {import("playwright-core").BrowserContextOptions} Options */

const MADE_UP = `
import sys
from pathlib import Path
from tests.unit.replay.made_up_runs import many
from ullage.replay.reporting.html.page import as_html
report, runs = many(3, ("ullage", "codex", "three-layer-preserving", "none"), 200)
Path(sys.argv[1]).write_text(as_html(report, runs), encoding="utf-8")
`;

void suite("the page of a replay", () => {
  /** @type {Browser} */
  let browser;
  /** @type {string} */
  let folder;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "ullage-report-"));
    await quietly([VENV_PYTHON, "-c", MADE_UP, join(folder, "out.html")], { cwd: ROOT });
    browser = await launchBrowser();
  });

  after(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** The page as a file, with what the browser complained of and asked for. @param {Options} options */
  async function opened(options = {}) {
    const page = await (await browser.newContext(options)).newPage();
    /** @type {string[]} */
    const complaints = [];
    /** @type {string[]} */
    const requests = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => requests.push(request.url()));
    const address = pathToFileURL(join(folder, "out.html")).href;
    await page.goto(address);
    assert.deepEqual(requests, [address]);
    assert.deepEqual(complaints, []);
    return page;
  }

  void test("it asks for nothing, and its table can be sorted by the keyboard", async () => {
    const page = await opened();
    const table = page.locator("table.sortable").first();
    const names = () => table.locator("tbody th").allTextContents();
    const costs = table.locator("thead th").nth(1);
    const cheapestFirst = await names();
    assert.equal(cheapestFirst.length, 4);
    await costs.getByRole("button").focus();
    await page.keyboard.press("Enter");
    assert.equal(await costs.getAttribute("aria-sort"), "ascending");
    assert.deepEqual(await names(), cheapestFirst);
    await page.keyboard.press("Enter");
    assert.equal(await costs.getAttribute("aria-sort"), "descending");
    assert.deepEqual(await names(), cheapestFirst.toReversed());
  });

  void test("it says the same without its script", async () => {
    const page = await opened({ javaScriptEnabled: false });
    assert.equal(await page.locator("table.sortable").first().locator("tbody th").count(), 4);
    assert.match(await page.locator(".lead").innerText(), /\S/);
  });

  void test("no table has to be moved sideways: on a phone each row is a card that names its columns", async () => {
    for (const width of [1280, 360]) {
      const page = await opened({ viewport: { width, height: 640 } });
      const tooWide = await page
        .locator(".wide:has(table)")
        .evaluateAll((regions) => regions.filter((region) => region.scrollWidth > region.clientWidth).map((region) => region.ariaLabel));
      assert.deepEqual(tooWide, [], `at ${width} pixels`);
    }
    const page = await opened({ viewport: { width: 360, height: 640 } });
    const labels = await page
      .locator("table.sortable")
      .first()
      .locator("tbody tr")
      .first()
      .locator("td")
      .evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell, "::before").content));
    assert.equal(labels[0], '"Cost"');
    assert.ok(
      labels.every((label) => /^"\S.*"$/.test(label)),
      String(labels),
    );
  });

  void test("it fits a phone, and is dark where the user wants it so", async () => {
    const page = await opened({ viewport: { width: 360, height: 640 }, colorScheme: "dark" });
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 360);
    const background = await page.evaluate("getComputedStyle(document.body).backgroundColor");
    assert.match(String(background), /^rgb\((\d|[1-4]\d), (\d|[1-4]\d), (\d|[1-4]\d)\)$/);
  });
});
