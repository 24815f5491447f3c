// Writes the pages of docs/reference: every command, from the program, and the API, from its description. test/docs/reference.test.ts
// fails when they are not what this would write.

import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { referencePages } from "../site/reference-pages.ts";

const folder = resolve(import.meta.dirname, "../docs/reference");
mkdirSync(folder, { recursive: true });
for (const { file, text } of await referencePages()) writeFileSync(join(folder, file), text);
