import { causeText } from "../../base/cause-text.ts";
import { type Diagnostic, errorsOf, PortolanError, type Stage } from "../../base/diagnostic.ts";
import { warning } from "../../config/finding.ts";
import { settingText } from "../../front/auth/setting-file.ts";
import { overEnvironment, overridden, withFiles } from "../../settings/environment.ts";
import { byLine, readSettings, settingsDiagnostics } from "../../settings/read-settings.ts";
import type { Settings } from "../../settings/schema.ts";
import { textOfFile } from "../named-file.ts";
import { counted } from "../numbers.ts";
import { refusedSettings } from "./refused-settings.ts";
import type { Part } from "./rule.ts";

/** What a settings file says, or what is wrong with it. @throws PortolanError when it cannot be read */
async function checkSettings(file: string): Promise<Stage<Settings | undefined>> {
  return readSettings(await textOfFile(file), file);
}

/**
 * The same, with what `serve` would refuse of it here: with this environment's variables, and the files that it names. Of a file that is
 * not on this machine a warning says that it was not looked at, and another one which fields a variable goes before.
 *
 * @param wanted the parts that are to run
 * @throws PortolanError when it cannot be read, or a variable says what it cannot
 */
export async function checkServable(file: string, wanted: ReadonlySet<Part>): Promise<Stage<Settings | undefined>> {
  const text = await textOfFile(file);
  const { value, right, wrong, diagnostics } = readSettings(text, file);
  if (right === undefined) return { value, diagnostics };
  const unread = new Map<string, string>();
  const over = overEnvironment(right, process.env);
  const whole = withFiles(over, (setting, path) => {
    try {
      return settingText(setting);
    } catch (cause) {
      unread.set(path.join("."), causeText(cause));
      return setting;
    }
  });
  const refused = refusedSettings(whole, wanted, new Set([...unread.keys(), ...wrong]));
  const unlooked = [...unread].map(([path, why]) =>
    warning(path.split("."), `${why}; what it holds was not looked at`),
  );
  const passedOver = overridden(right, process.env).map(({ path, variable }) =>
    warning(path, `the variable ${variable} has another value and takes precedence`),
  );
  const together = settingsDiagnostics([...refused, ...unlooked, ...passedOver], text, file);
  return { value: refused.length === 0 ? value : undefined, diagnostics: [...diagnostics, ...together].sort(byLine) };
}

/** @throws PortolanError with what `serve` cannot do with settings that are those of a file, and of the environment over it */
export async function needServable(file: string, settings: Settings, wanted: ReadonlySet<Part>): Promise<void> {
  const refused = refusedSettings(settings, wanted);
  if (refused.length === 0) return;
  const diagnostics = settingsDiagnostics(refused, await textOfFile(file), file);
  throw new PortolanError(wrongSettings(file, diagnostics), diagnostics);
}

/** The same for whoever needs it to be right. @throws PortolanError with what is wrong with it */
export async function settingsIn(file: string): Promise<Settings> {
  const { value, diagnostics } = await checkSettings(file);
  if (value === undefined) throw new PortolanError(wrongSettings(file, diagnostics), diagnostics);
  return value;
}

export const wrongSettings = (file: string, diagnostics: readonly Diagnostic[]): string =>
  `${file} has ${counted(errorsOf(diagnostics).length, "error")}; docs/reference/settings.md lists its fields`;
