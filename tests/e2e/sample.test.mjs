/** The copy of the sample project that `npm start` opens: what was tried in it is there the next time. */

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { copySampleWorkspace } from "../../scripts/lib/workspace.mjs";

void test("the copy is kept, and a fresh one is made beside it", async (t) => {
  const copies = await mkdtemp(join(tmpdir(), "ullage-copies-"));
  t.after(() => rm(copies, { recursive: true, force: true }));
  const first = await copySampleWorkspace({ copies });
  assert.ok(first.isNew);
  const tried = join(first.folder, "README.md");
  await writeFile(tried, "tried\n");
  assert.deepEqual(await copySampleWorkspace({ copies }), { folder: first.folder, isNew: false });

  const fresh = await copySampleWorkspace({ fresh: true, copies });
  assert.ok(fresh.isNew && fresh.folder !== first.folder);
  assert.notEqual(await readFile(join(fresh.folder, "README.md"), "utf8"), "tried\n");
  assert.equal(await readFile(tried, "utf8"), "tried\n");
  assert.equal((await copySampleWorkspace({ copies })).folder, fresh.folder);
});
