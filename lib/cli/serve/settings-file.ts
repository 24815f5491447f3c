import { type Diagnostic, PortolanError, type Stage } from "../../config/diagnostic.ts";
import { readSettings } from "../../settings/read-settings.ts";
import type { Settings } from "../../settings/schema.ts";
import { textOfFile } from "../named-file.ts";
import { counted } from "../numbers.ts";

/** What a settings file says. @throws PortolanError when it cannot be read */
export async function checkSettings(file: string): Promise<Stage<Settings | undefined>> {
  return readSettings(await textOfFile(file), file);
}

/** The same for whoever needs it to be right. @throws PortolanError with what is wrong with it */
export async function settingsIn(file: string): Promise<Settings> {
  const { value, diagnostics } = await checkSettings(file);
  if (value === undefined) throw new PortolanError(wrongSettings(file, diagnostics), diagnostics);
  return value;
}

export const wrongSettings = (file: string, diagnostics: readonly Diagnostic[]): string =>
  `${file} has ${counted(diagnostics.length, "error")}; docs/settings.md lists its fields`;
