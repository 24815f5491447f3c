import { InvalidArgumentError } from "commander";

/** A whole number on the command line, from `least` on. @throws InvalidArgumentError, which is exit code 2 */
export const wholeNumber =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d{1,16}$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(
      most === Number.MAX_SAFE_INTEGER ? `a whole number from ${least}` : `a whole number from ${least} to ${most}`,
    );
  };

/** `1 object`, `2 objects`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
