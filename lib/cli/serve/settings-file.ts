import { readFile } from "node:fs/promises";
import { causeText } from "../../config/cause-text.ts";
import { type Diagnostic, PortolanError, type Stage } from "../../config/diagnostic.ts";
import { readSettings } from "../../settings/read-settings.ts";
import type { Settings } from "../../settings/schema.ts";
import { counted } from "../numbers.ts";

/** What a settings file says. @throws PortolanError when it cannot be read */
export async function checkSettings(file: string): Promise<Stage<Settings | undefined>> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new PortolanError(`${file} cannot be read: ${causeText(cause)}`);
  });
  return readSettings(text, file);
}

/** The same for whoever needs it to be right. @throws PortolanError with what is wrong with it */
export async function settingsIn(file: string): Promise<Settings> {
  const { value, diagnostics } = await checkSettings(file);
  if (value === undefined) throw new PortolanError(wrongSettings(file, diagnostics), diagnostics);
  return value;
}

export const wrongSettings = (file: string, diagnostics: readonly Diagnostic[]): string =>
  `${file} has ${counted(diagnostics.length, "error")}; docs/settings.md lists its fields`;
