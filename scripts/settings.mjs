// Writes what follows from the schema of the settings file: settings.schema.json, and the table in docs/settings.md. A test says when to.

import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { schemaText, withSettingsTable } from "../lib/settings/reference.ts";

const root = resolve(import.meta.dirname, "..");
const page = join(root, "docs/settings.md");
writeFileSync(join(root, "settings.schema.json"), schemaText());
writeFileSync(page, withSettingsTable(readFileSync(page, "utf8")));
