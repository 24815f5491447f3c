import { PortolanError } from "../../base/diagnostic.ts";
import type { LoadedDirectory } from "../../config/folder/directory.ts";

/**
 * Refuses to compile a world whose settings have errors, and of which no valid settings are known: the defaults may open what the settings
 * close, as `outboundTrafficPolicy` does, and another `trustDomain` breaks every connection.
 *
 * @throws PortolanError with the errors
 */
export function refuseUnusableSettings({ unusableSettings = [] }: Pick<LoadedDirectory, "unusableSettings">): void {
  if (unusableSettings.length === 0) return;
  throw new PortolanError(
    "nothing was published: settings have errors, and none were valid before; correct them",
    unusableSettings,
  );
}
