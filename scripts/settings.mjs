// Writes what follows from the schema of the settings file: settings.schema.json and docs/reference/settings.md. A test says when to.

import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { schemaText } from "../lib/settings/reference.ts";
import { settingsReference } from "../site/settings-reference.ts";

const root = resolve(import.meta.dirname, "..");
writeFileSync(join(root, "settings.schema.json"), schemaText());
writeFileSync(join(root, "docs/reference/settings.md"), settingsReference());
