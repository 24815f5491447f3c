import picocolors from "picocolors";
import { createProgram } from "../lib/cli/program.ts";
import { openApiDocument } from "../lib/front/api/schema/openapi.ts";
import { apiReference } from "./api-reference.ts";
import { commandReference } from "./command-reference.ts";
import { limitsReference } from "./limits-reference.ts";
import { settingsReference } from "./settings-reference.ts";

/** A page of `docs/reference/`. */
export interface ReferencePage {
  readonly file: string;
  readonly text: string;
}

/** Every page that is made from code, as it has to be: the same code, the same text. */
export async function referencePages(): Promise<readonly ReferencePage[]> {
  const silent = { out: () => {}, err: () => {}, colours: picocolors.createColors(false) };
  return [
    { file: "cli.md", text: commandReference(await createProgram(silent)) },
    { file: "api.md", text: apiReference(openApiDocument("")) },
    { file: "limits.md", text: limitsReference() },
    { file: "settings.md", text: settingsReference() },
  ];
}
