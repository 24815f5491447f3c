import { PortolanError } from "../config/diagnostic.ts";

/**
 * A whole number out of an environment's settings. An empty one is none.
 *
 * @param name as messages say it
 * @throws PortolanError that says what it may be
 */
export function wholeNumberIn<T>(
  name: string,
  text: string | undefined,
  { least, most, usual }: { readonly least: number; readonly most: number; readonly usual: T },
): number | T {
  if (text === undefined || text === "") return usual;
  if (/^\d{1,7}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
  throw new PortolanError(`${name} is ${JSON.stringify(text)}; it is a whole number from ${least} to ${most}`);
}
