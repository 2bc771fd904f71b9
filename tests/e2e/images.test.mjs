/** What is attached, and images: the model reads one of the workspace, the next request holds it, and the panel shows it small and opens it at a click. */

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { itemsOf, openPanel, promptBox, sendAndFinish } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { runCommand } from "./harness/workbench.mjs";

const PICTURE = "docs/tank.png";
const [WIDTH, HEIGHT] = [320, 200];

stage("images", {}, (scenario) => {
  scenario("an image that is pasted or dropped is attached and sent", { goesOn: true }, async ({ page, api, screenshot }) => {
    const bytes = png(WIDTH, HEIGHT);
    await api.enqueue({ say: "A tank, half full." });
    const panel = await openPanel(page);
    await promptBox(panel).evaluate(pasteImage, bytes.toString("base64"));
    await panel.locator(".composer .chip", { hasText: "pasted image" }).waitFor();
    const other = png(WIDTH, HEIGHT / 2);
    await panel.locator(".stage").evaluate(dropImage, other.toString("base64"));
    await panel.locator(".composer .chip", { hasText: "tank.png" }).waitFor();
    await screenshot("1-pasted");

    await sendAndFinish(panel, "What is in the picture?");
    const prompt = itemsOf(panel, "user").first();
    await prompt.getByRole("button", { name: "pasted image: image, 320 × 200, 96 tokens" }).waitFor();
    await prompt.getByRole("button", { name: /^tank\.png: image, 320 × 100/ }).waitFor();
    await screenshot("2-sent");
    /** @type {any[]} */
    const content = (await api.calls()).at(-1)?.body.messages[0].content ?? [];
    assert.deepEqual(
      content.filter(({ type }) => type === "image").map(({ source }) => source),
      [bytes, other].map((each) => ({ type: "base64", media_type: "image/png", data: each.toString("base64") })),
    );
    assert.equal(content.at(-1).text, "What is in the picture?");
  });

  scenario(
    "an image that the model reads is sent to it, and seen in the panel",
    { goesOn: true },
    async ({ page, api, workspace, screenshot }) => {
      const bytes = png(WIDTH, HEIGHT);
      await mkdir(join(workspace, "docs"), { recursive: true });
      await writeFile(join(workspace, PICTURE), bytes);
      await api.enqueue([{ call: "read_file", input: { path: PICTURE } }], { say: "A tank, half full." });
      const panel = await openPanel(page);

      await sendAndFinish(panel, "What is in the picture?");
      const card = itemsOf(panel, "toolCall").first();
      const shown = card.getByRole("button", { name: "image, 320 × 200, 96 tokens" });
      await shown.waitFor();
      const thumbnail = shown.locator("img");
      await thumbnail.waitFor();
      assert.equal(await thumbnail.evaluate((image) => /** @type {HTMLImageElement} */ (image).naturalWidth), WIDTH);
      await screenshot("1-read");

      const { body } = (await api.calls()).at(-1) ?? assert.fail("nothing was asked");
      const [text, image] = body.messages.at(-1).content[0].content;
      assert.match(text.text, /`docs\/tank\.png`: image, 320 × 200, 96 tokens/);
      assert.deepEqual(image.source, { type: "base64", media_type: "image/png", data: bytes.toString("base64") });

      await shown.click();
      await page.locator(".tabs-container .tab.active", { hasText: ".png" }).waitFor();
      await screenshot("2-opened");
    },
  );

  scenario("a new document that was never saved is offered after @, and its text is sent", { goesOn: true }, async (scene) => {
    const { page, api, screenshot } = scene;
    await runCommand(page, "File: New Untitled Text File");
    await page.locator('.tab.active[data-resource-name="Untitled-1"]').waitFor();
    await page.keyboard.type("The dip stick is bent.");
    await api.enqueue({ say: "Then I measure again." });
    const panel = await openPanel(page);
    await promptBox(panel).pressSequentially("What of @Untit");
    await panel.getByRole("option", { name: "Untitled-1" }).click();
    await panel.locator(".composer .chip", { hasText: "Untitled-1" }).waitFor();
    await screenshot("1-attached");
    await promptBox(panel).press("Enter");
    await itemsOf(panel, "assistant").getByText("Then I measure again.").waitFor();
    assert.match(JSON.stringify((await api.calls()).at(-1)?.body.messages), /The dip stick is bent\./);
    await runCommand(page, "View: Revert and Close Editor");
    await page.locator(".tab").waitFor({ state: "detached" });
  });
});

/** Runs in the panel: what a browser does when somebody pastes. @param {Element} box @param {string} data base64 of a PNG */
function pasteImage(box, data) {
  const clipboardData = new DataTransfer();
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  clipboardData.items.add(new File([bytes], "image.png", { type: "image/png" }));
  box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}

/** The same of what is dropped from outside of the editor. @param {Element} place @param {string} data base64 of a PNG */
function dropImage(place, data) {
  const dataTransfer = new DataTransfer();
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  dataTransfer.items.add(new File([bytes], "tank.png", { type: "image/png" }));
  place.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}

/** A tank, half full. @param {number} width @param {number} height @returns {Buffer} */
function png(width, height) {
  const rows = Array.from({ length: height }, (_, y) => {
    const colour = y < height / 2 ? [220, 225, 230] : [30, 110 + Math.round((y / height) * 60), 190];
    return Buffer.from([0, ...Array.from({ length: width }, () => colour).flat()]);
  });
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", deflateSync(Buffer.concat(rows))), chunk("IEND", Buffer.alloc(0))]);
}

/** @param {string} kind @param {Buffer} data */
function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/** @param {Buffer} data */
function crc32(data) {
  let sum = ~0;
  for (const byte of data) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}
