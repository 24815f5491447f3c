/** The values that a process reads out of its environment: every setting on Node, on Lambda and in a Worker is checked by these. */
import { PortolanError } from "../base/diagnostic.ts";

/**
 * A whole number. An empty text is none.
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

/**
 * One of a few words.
 *
 * @returns `undefined` for a text that is absent or empty
 * @throws PortolanError that says what it may be
 */
export function choiceIn<T extends string>(
  name: string,
  text: string | undefined,
  choices: readonly T[],
): T | undefined {
  const found = choices.find((one) => one === text);
  if (text === undefined || text === "" || found !== undefined) return found;
  throw new PortolanError(`${name} is ${JSON.stringify(text)}; it may be ${choices.join(" or ")}`);
}

/** `true` or `false`; false for a text that is absent or empty. @throws PortolanError for any other text */
export const flagIn = (name: string, text: string | undefined): boolean =>
  choiceIn(name, text, ["true", "false"]) === "true";

/** A source's name, which is a part of keys and paths. */
export const sourceNameForm = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/;
export const sourceNameRule = "a name of small letters, digits, - and .";

/** Names of sources with commas between them. @throws PortolanError for what is no such name */
export function sourceNamesIn(name: string, text: string | undefined, usual: string): readonly string[] {
  const names = (text === undefined || text === "" ? usual : text).split(",");
  const wrong = names.find((one) => !sourceNameForm.test(one));
  if (wrong === undefined) return names;
  throw new PortolanError(`${name} names the source ${JSON.stringify(wrong)}; each is ${sourceNameRule}`);
}

/**
 * A line of a Worker's `crons`: five fields with blanks between them.
 *
 * @returns `undefined` for a text that is absent or empty
 * @throws PortolanError for any other text
 */
export function cronIn(name: string, text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  if (/^[\w*/,#-]{1,40}(?: [\w*/,#-]{1,40}){4}$/.test(text)) return text;
  throw new PortolanError(`${name} is ${JSON.stringify(text)}; it is empty, or a line of crons, like "17 3 * * *"`);
}

/** The longest time that a front may be told to hold polls. */
export const maxHoldLimitMs = 3_600_000;

/** How long a front holds polls where waiting costs little: on Node and on Workers. */
export const usualHoldMs = 25_000;

/** The longest validity that a certificate may be given: a year. */
export const maxCaHours = 8_760;

/** The longest validity of certificates, in hours; `undefined` where the setting is absent. @throws PortolanError for any other text */
export const caHoursIn = (name: string, text: string | undefined): number | undefined =>
  wholeNumberIn(name, text, { least: 1, most: maxCaHours, usual: undefined });
