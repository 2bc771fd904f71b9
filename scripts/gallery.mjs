/**
 * `npm run gallery`: docs/gallery.md and its pictures, from those that the end-to-end tests took last. Run these first: `npm test -- e2e`, on a
 * machine with bubblewrap, so that commands are asked about as most users see it. `lib/film.py` makes the animation, the strip and the pictures of
 * the first pages, in docs/images, and those of the walkthrough. `npm run gallery -- film` makes these alone, from
 * `node --test tests/e2e/tour.test.mjs`.
 *
 * A picture gets fewer colours and half of its pixels, so that all of them together stay small. One that a test no longer takes is an error.
 */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Failure, main } from "./lib/console.mjs";
import { EXTENSION, ROOT, VENV_PYTHON } from "./lib/paths.mjs";
import { installPythonPackages } from "./lib/python.mjs";

const TAKEN = join(ROOT, "tests", "e2e", "artifacts");
const TOUR = "the-tour-mends-the-failing-test-and-compacts-on-the-way";
const WALKTHROUGH = "each-step-of-the-walkthrough-does-what-it-says-in-a-folder-of-one-s-own";
const GALLERY = join(ROOT, "docs", "gallery");

/**
 * Heading, then pictures: their name, where the tests leave them, what one sees, and how many pixels are cut off at the top
 * where the path of a temporary folder stands. @type {[string, [string, string, string, number?][]][]} */
const ROOMS = [
  [
    "A turn",
    [
      [
        "streaming",
        "an-answer-streams-an-edit-asks-and-changes-the-file-on-disk-and-in-the-open-editor/1-streaming",
        "An answer streams in beside the code.",
      ],
      [
        "asked",
        "an-answer-streams-an-edit-asks-and-changes-the-file-on-disk-and-in-the-open-editor/2-asked",
        "An edit shows its diff, and waits for an answer.",
      ],
      [
        "from-the-editor",
        "a-question-that-waits-is-answered-from-the-editor-by-a-key-once-it-was-seen/0-told",
        "While the panel is hidden, a notification asks, and the gauge says so.",
      ],
      [
        "cost",
        "two-turns-a-fork-from-the-first-goes-on-by-itself-and-the-original-still-has-both/9-the-cost-of-a-turn",
        "What a turn cost, by price class.",
      ],
      [
        "effort",
        "two-turns-a-fork-from-the-first-goes-on-by-itself-and-the-original-still-has-both/10-effort",
        "How long it thinks stands beside the model.",
      ],
      [
        "again",
        "a-session-works-in-a-worktree-what-it-made-is-brought-back-and-the-worktree-is-removed/2-edit-and-send-again",
        "An earlier prompt is edited and sent again.",
      ],
      ["done", "who-does-not-look-at-the-panel-is-told-that-the-agent-is-done/1-told", "Who looks elsewhere is told when it is done."],
      ["marked-view", "a-hidden-panel-is-heard-where-the-user-wants-a-sound/2-marked", "A mark stays at the panel's name until one looks."],
      ["export", "a-session-is-exported-as-markdown-and-as-json-lines/tank.md", "A session is exported as Markdown."],
    ],
  ],
  [
    "From the editor",
    [
      [
        "fix",
        "a-problem-is-explained-and-fixed-from-where-the-editor-shows-it/1-offered",
        "A problem is fixed, explained or added from where the editor shows it.",
      ],
      [
        "fixed",
        "a-problem-is-explained-and-fixed-from-where-the-editor-shows-it/4-fixed",
        "The agent mended it; the change is marked in the file.",
      ],
      ["mentions", "the-selection-and-a-symbol-are-offered-after-/3-attached", "The selection and a symbol were named after `@`."],
      ["drop", "selected-lines-and-a-folder-go-into-the-prompt/3-over-the-panel", "A file from outside is dropped on the panel."],
      [
        "around",
        "a-page-a-terminal-and-git-changes-go-into-the-prompt/1-attached",
        "A terminal, git changes and a page go into the prompt.",
      ],
      ["image", "an-image-that-is-pasted-or-dropped-is-attached-and-sent/2-sent", "Images are pasted and dropped."],
      ["failed-test", "a-test-that-failed-goes-into-the-prompt-with-its-words/1-offered", "A failed test is added with its words."],
      [
        "commit-message",
        "a-change-of-the-source-control-goes-into-the-prompt-and-its-commit-message-is-written/2-written",
        "A commit message is written in the source-control view.",
      ],
    ],
  ],
  [
    "Review and checkpoints",
    [
      [
        "changes",
        "the-changes-of-a-turn-stand-above-the-prompt-and-are-taken-back/2-unfolded",
        "What the agent changed stands above the prompt box until it is kept or undone.",
      ],
      [
        "marked",
        "in-the-file-one-change-is-undone-and-one-kept-and-what-the-user-typed-stays/1-marked",
        "In the file, each change has *Keep* and *Undo*.",
      ],
      [
        "together",
        "all-changes-open-beside-what-was-before-alone-and-together/2-together",
        "All changes stand beside what was before, in the editor's own diff.",
      ],
      ["comment", "a-comment-on-a-change-is-the-next-prompt/1-written", "A comment on a change is the next prompt."],
      [
        "going-back",
        "going-back-lists-the-files-before-anything-happens-and-leads-forward-again/2-listed",
        "Going back lists the files before anything happens.",
      ],
      [
        "conflict",
        "going-back-lists-the-files-before-anything-happens-and-leads-forward-again/3-conflicts",
        "What the user changed since is a conflict, and stays unless it is picked.",
      ],
    ],
  ],
  [
    "Plans",
    [
      [
        "plan",
        "a-plan-opens-is-sent-back-edited-and-carried-out/1-proposed",
        "A plan opens as a document that can be edited and commented.",
        88,
      ],
      [
        "plan-accepted",
        "a-plan-opens-is-sent-back-edited-and-carried-out/3-accepted",
        "Accepted, it stays in view, and its steps are the task list.",
        88,
      ],
      [
        "plan-compacted",
        "a-plan-opens-is-sent-back-edited-and-carried-out/4-in-view-after-a-compaction",
        "The conversation was compacted. The plan and its steps stay in force.",
        88,
      ],
    ],
  ],
  [
    "What it may do",
    [
      ["mode", "in-ask-mode-nothing-is-changed-and-the-panel-shows-the-mode/1-ask", "In Ask mode it only reads."],
      [
        "command",
        "a-command-is-asked-about-part-by-part-and-a-rule-is-written-with-what-it-would-have-covered/2-asked",
        "A command is asked about part by part: where it runs, and what of it is not harmless.",
      ],
      [
        "rule",
        "a-command-is-asked-about-part-by-part-and-a-rule-is-written-with-what-it-would-have-covered/4-rule",
        "A rule is edited before it is saved, with the past commands that it would cover.",
      ],
      [
        "refused",
        "a-rule-that-refuses-is-written-on-the-page-and-what-it-refuses-does-not-run/3-refused",
        "What a rule refuses does not run, and the card says which rule.",
      ],
      ["permissions", "the-page-of-permissions-lists-explains-and-revokes/1-page", "All rules on one page: explained, changed, revoked."],
      [
        "proposal",
        "a-proposed-edit-opens-as-a-diff-is-changed-there-and-is-written-as-the-user-left-it/1-changed-before-accepting",
        "An edit is changed before it is accepted.",
        88,
      ],
    ],
  ],
  [
    "Several sessions",
    [
      [
        "sessions",
        "two-turns-a-fork-from-the-first-goes-on-by-itself-and-the-original-still-has-both/8-one-waits",
        "All sessions in one list: what each does, how full it is, what it cost.",
      ],
      [
        "worktree",
        "a-session-works-in-a-worktree-what-it-made-is-brought-back-and-the-worktree-is-removed/1-in-a-worktree",
        "A session works in a git worktree of its own; from there what it made is brought back.",
      ],
    ],
  ],
  [
    "Others that work for it",
    [
      [
        "sub-agents",
        "two-work-side-by-side-one-is-stopped-the-other-reports-and-its-log-opens-and-leads-back/1-at-work",
        "Sub-agents read and search side by side, each in a context of its own.",
      ],
      [
        "sub-agent-asks",
        "one-of-the-project-acts-it-is-allowed-once-asks-in-its-parent-and-what-it-changed-is-undone-there/2-edit-asked-light",
        "A sub-agent that acts asks in the conversation that called it.",
      ],
      [
        "running",
        "what-runs-is-seen-read-and-stopped-and-the-agent-learns-of-its-end/2-unfolded-dark",
        "A dev server goes on in the background. Its port opens with a click.",
      ],
      [
        "mcp",
        "servers-of-the-workspace-are-allowed-one-by-one-run-are-used-turned-off-die-and-are-changed/6-asked",
        "A tool of an MCP server is asked about with what the server says of it.",
      ],
      [
        "search",
        "the-web-is-turned-on-and-a-page-is-fetched-from-a-host-that-the-user-allowed/5-found",
        "A search of the web: pages with their hosts, and a short report.",
      ],
      ["coming-over", "a-session-of-claude-code-goes-on-in-ullage/1-list", "Sessions of other programs are listed, and gone on with."],
    ],
  ],
  [
    "The context",
    [
      [
        "gauge",
        "it-is-there-before-any-prompt-rises-in-a-turn-and-a-click-compacts-which-can-be-undone/3-tooltip",
        "The gauge says how full the context is, and what it is made of.",
      ],
      [
        "context",
        "a-part-is-sorted-found-gone-to-cleared-pinned-and-excluded-and-undo-brings-it-back/1-found",
        "What fills the window, part by part, and how long the prompt cache stays warm.",
      ],
      [
        "preview",
        "a-compaction-is-seen-before-it-is-made-then-made-undone-and-redone/1-preview",
        "A compaction is seen before it is made.",
      ],
      [
        "timeline",
        "the-timeline-says-what-became-of-each-message-leads-to-it-and-undoes-an-earlier-compaction/1-timeline",
        "The timeline says what became of each message. Every compaction can be undone.",
      ],
      [
        "fork",
        "two-turns-a-fork-from-the-first-goes-on-by-itself-and-the-original-still-has-both/2-forked",
        "A session is forked at a message, and the original stays.",
      ],
    ],
  ],
  [
    "Everywhere",
    [
      ["theme-light", "the-panel-has-the-editor-s-look-in-every-theme-size-and-direction/theme-light", "Light."],
      ["theme-dark", "the-panel-has-the-editor-s-look-in-every-theme-size-and-direction/theme-dark", "Dark."],
      [
        "theme-high-contrast-dark",
        "the-panel-has-the-editor-s-look-in-every-theme-size-and-direction/theme-high-contrast-dark",
        "High contrast.",
      ],
      [
        "theme-high-contrast-light",
        "the-panel-has-the-editor-s-look-in-every-theme-size-and-direction/theme-high-contrast-light",
        "High contrast, light.",
      ],
      ["narrow", "the-panel-has-the-editor-s-look-in-every-theme-size-and-direction/narrow-dark", "A panel of 300 pixels."],
      ["zoomed", "the-panel-has-the-editor-s-look-in-every-theme-size-and-direction/zoomed", "Twice as large."],
      ["right-to-left", "the-panel-has-the-editor-s-look-in-every-theme-size-and-direction/right-to-left", "From right to left."],
      ["chinese", "in-a-chinese-editor-the-panel-speaks-chinese/1-asked", "In Chinese."],
    ],
  ],
];

/** Fewer colours and pixels: what is left is easily read. */
const SHRINK = `
import sys
from PIL import Image
for source, target, top in zip(sys.argv[1::3], sys.argv[2::3], sys.argv[3::3]):
    with Image.open(source) as picture:
        smaller = picture.convert("RGB").crop((0, int(top), picture.width, picture.height))
        smaller.thumbnail((1200, 1200), Image.Resampling.LANCZOS)
        smaller.quantize(96, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(target, optimize=True)
`;

await main(async () => {
  await installPythonPackages();
  if (process.argv[2] === "film") return film();
  const pictures = ROOMS.flatMap(([, all]) => all);
  const missing = pictures.filter(([, from]) => !existsSync(join(TAKEN, `${from}.png`)));
  if (missing.length > 0) throw new Failure(`The tests did not take these, run them first:\n${missing.map(([, from]) => from).join("\n")}`);
  await rm(GALLERY, { recursive: true, force: true });
  await mkdir(GALLERY, { recursive: true });
  const files = pictures.flatMap(([name, from, , top = 0]) => [join(TAKEN, `${from}.png`), join(GALLERY, `${name}.png`), String(top)]);
  execFileSync(VENV_PYTHON, ["-c", SHRINK, ...files]);
  await writeFile(join(ROOT, "docs", "gallery.md"), page());
  film();
  console.log(`docs/gallery.md with ${(await readdir(GALLERY)).length} pictures`);
  return 0;
});

/** What `lib/film.py` makes of the tour, the walkthrough, and pictures of the gallery. */
function film() {
  const from = [join(TAKEN, TOUR), join(TAKEN, WALKTHROUGH)];
  if (!from.every(existsSync)) throw new Failure("The tour was not taken, run it first: node --test tests/e2e/tour.test.mjs");
  const to = [join(ROOT, "docs", "images"), join(EXTENSION, "media", "walkthrough")];
  execFileSync(VENV_PYTHON, [join(ROOT, "scripts", "lib", "film.py"), ...from, GALLERY, ...to], { stdio: "inherit" });
  return 0;
}

function page() {
  const head =
    "# Gallery\n\nWritten by `npm run gallery`, from pictures that the end-to-end tests take of VS Code with the packaged extension.\n";
  const rooms = ROOMS.map(([title, all]) => [
    `## ${title}\n`,
    ...all.map(([name, , words]) => `${words}\n\n![${words.replaceAll("*", "")}](gallery/${name}.png)\n`),
  ]);
  return [head, ...rooms.flat()].join("\n");
}
