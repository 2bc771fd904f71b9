/** `npm run schema`: writes docs/protocol.schema.json again from the server's wire types. */

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { main } from "./lib/console.mjs";
import { ROOT, VENV_PYTHON } from "./lib/paths.mjs";
import { installPythonPackages } from "./lib/python.mjs";

await main(async () => {
  await installPythonPackages();
  writeFileSync(join(ROOT, "docs", "protocol.schema.json"), execFileSync(VENV_PYTHON, ["-m", "ullage.lsp.json_schema"]));
  return 0;
});
