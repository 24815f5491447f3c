import { causeText, codeOf } from "../base/cause-text.ts";
import { PortolanError } from "../base/diagnostic.ts";

/**
 * For the loading of what needs libraries that the package does not bring along, since only the stores of one cloud need them.
 *
 * @param names of npm packages
 * @returns throws PortolanError where one is not installed, with how to install it
 */
export function lacking(...names: readonly string[]): (cause: unknown) => never {
  return (cause) => {
    if (codeOf(cause) !== "ERR_MODULE_NOT_FOUND") throw cause;
    const command = `npm install ${names.join(" ")}`;
    throw new PortolanError(
      `this store needs more npm packages: ${command}, beside portolan (${causeText(cause)})`,
      [],
      cause,
    );
  };
}
