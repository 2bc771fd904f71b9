/** The web: off until the user turns it on, pages asked about by host, and a search that the model's provider makes. */

import assert from "node:assert/strict";
import { assertHolds } from "./harness/eventually.mjs";
import { SEARCHED } from "./harness/fake-api.mjs";
import { answerApproval, approval, itemsOf, openPanel, sendAndFinish, sendPrompt, turnIsOver } from "./harness/panel.mjs";
import { stage } from "./harness/stage.mjs";
import { FETCHED, PAGES } from "./harness/surroundings.mjs";
import { resizePanel } from "./harness/workbench.mjs";

const PAGE = "http://docs.example.org/dips";
PAGES.set(PAGE, "<title>On dips</title><h1>On dips</h1><p>A dip is four. <a href='/more'>More</a></p>");

stage("web", { search: true }, (scenario) => {
  scenario(
    "the web is turned on, and a page is fetched from a host that the user allowed",
    { goesOn: true },
    async ({ page, api, screenshot, settings }) => {
      const panel = await openPanel(page);
      await api.enqueue({ say: "I cannot look." });
      await sendAndFinish(panel, "Look it up");
      const names = async () => (await api.calls()).at(-1)?.body.tools.map((/** @type {{name: string}} */ { name }) => name);
      assert.equal((await names()).includes("web_fetch"), false);
      await sendPrompt(panel, "/web on");
      await itemsOf(panel, "notice").getByText("The web is on in this workspace").waitFor();
      await itemsOf(panel, "notice").getByText("the search is made by the provider of").waitFor();
      await screenshot("1-on");

      await api.enqueue([{ call: "web_fetch", input: { url: PAGE } }], { say: "A dip is four." });
      await sendPrompt(panel, "What is a dip?");
      await approval(panel).getByText("docs.example.org").waitFor();
      await screenshot("2-asked-by-host");
      await answerApproval(panel, "Allow once");
      await turnIsOver(panel);
      assert.deepEqual((await names()).slice(-2), ["web_fetch", "web_search"]);
      assertHolds(JSON.stringify((await api.calls()).at(-1)?.body.messages), "A dip is four");
      assert.ok(FETCHED.includes(PAGE));
      await itemsOf(panel, "toolCall").getByRole("button", { name: /Fetch/ }).click();
      await itemsOf(panel, "toolCall").getByText("# On dips").waitFor();
      await screenshot("3-fetched");
      await itemsOf(panel, "toolCall").getByRole("button", { name: /Fetch/ }).click(); // two open cards would have two regions of one name

      await api.addRules(SEARCHED);
      await api.enqueue([{ call: "web_search", input: { query: "tank dip formula" } }], { say: "The formula stands in docs.example.org." });
      await sendPrompt(panel, "Search for the formula");
      await approval(panel).getByText("Search the web for: tank dip formula (by the provider of").waitFor();
      await approval(panel).getByText("for $0.01 and the tokens of the results").waitFor();
      await screenshot("4-search-asked");
      await answerApproval(panel, "Allow once");
      await turnIsOver(panel);
      const card = itemsOf(panel, "toolCall").filter({ hasText: "Search the web for" });
      await card.getByRole("button", { name: /Search the web for/ }).click();
      await card.getByRole("link", { name: "Dips of tanks, measured" }).waitFor();
      await card.getByText("docs.example.org · 2 days ago").waitFor();
      await card.getByText("blog.example.net").waitFor();
      await card.getByText("a dip is four. [1]").waitFor();
      assert.equal(await card.locator("b").count(), 0, "a title is text");
      assert.match(String(await card.locator(".tool-duration").textContent()), /\$0\.0\d/u);
      await screenshot("5-found");
      await settings({ "workbench.colorTheme": "Default Dark Modern" });
      await page.locator(".monaco-workbench.vs-dark").waitFor();
      await screenshot("6-found-dark");
      await resizePanel(page, 300);
      await screenshot("7-found-narrow");
      await resizePanel(page, 440);
      await settings({});
      await page.locator(".monaco-workbench.vs").first().waitFor();

      await sendPrompt(panel, "/web off");
      await itemsOf(panel, "notice").getByText("The web is off in this workspace").waitFor();
      await api.enqueue({ say: "As before." });
      await sendAndFinish(panel, "And now?");
      assert.equal((await names()).includes("web_search"), false);
    },
  );
});
