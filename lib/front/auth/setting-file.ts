import { readFileSync } from "node:fs";
import { fileTrouble } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";

/**
 * A setting as it stands in the environment, or in the file that it names after an `@`.
 *
 * @throws PortolanError when there is no such file
 */
export function settingText(setting: string | undefined): string | undefined {
  if (setting?.startsWith("@") !== true) return setting;
  const file = setting.slice(1);
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new PortolanError(`the setting names a file that cannot be read: ${file}: ${fileTrouble(cause)}`, [], cause);
  }
}
