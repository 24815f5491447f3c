const maxInt = 2n ** 63n - 1n;
const maxUint = 2n ** 64n - 1n;

/** Why a number is none of CEL's, or undefined. @param negated whether a minus stands before it */
export function numberProblem(text: string, negated: boolean): string | undefined {
  if (/^0x/.test(text) || /^\d+[uU]?$/.test(text)) {
    const unsigned = /[uU]$/.test(text);
    const value = BigInt(text.replace(/[uU]$/, ""));
    const limit = unsigned ? maxUint : negated ? maxInt + 1n : maxInt;
    return value <= limit ? undefined : `${text} does not fit into 64 bits`;
  }
  return Number.isFinite(Number(text)) ? undefined : `${text} is no number`;
}

/** Why a quoted text is none of CEL's, or undefined: an escape that means no character, or one of Unicode among bytes. */
export function textProblem(text: string): string | undefined {
  const prefix = /^[a-zA-Z]*/.exec(text)?.[0] ?? "";
  if (/r/i.test(prefix)) return undefined;
  for (const [, escape = ""] of text.matchAll(/\\(u[\da-fA-F]{4}|U[\da-fA-F]{8}|.)/gs)) {
    if (!/^[uU]./.test(escape)) continue;
    if (prefix !== "") return `\\${escape} is a character, not a byte`;
    const point = Number.parseInt(escape.slice(1), 16);
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return `\\${escape} is no character`;
  }
  return undefined;
}
