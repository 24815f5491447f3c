import { byCodePoint } from "../base/diagnostic.ts";

/** What is told of the parts of an origin that cannot be read. */
export interface Trouble {
  /**
   * One of the parts and its reason: the same text for as long as any part fails for that reason, whichever comes and goes meanwhile.
   * A server that goes away fails forty kinds, each at its own time.
   *
   * @returns "" where none fails
   */
  of(failures: ReadonlyMap<string, string>): string;
}

/** What parts have in common that fail together: all but where each was asked for. */
const common = (reason: string): string => reason.replace(/\/\S+/g, "…");

/** Names the server where it is the server, and not the part, that is in trouble. */
const textOf = (part: string, reason: string): string =>
  `${part}: ${reason.replace(/^connect ECONNREFUSED (\S+)$/, "the server at $1 refuses connections (ECONNREFUSED)")}`;

export function createTrouble(): Trouble {
  let told = { text: "", reason: "" };
  return {
    of(failures) {
      const holds = [...failures.values()].some((reason) => common(reason) === told.reason);
      if (holds) return told.text;
      const [first] = [...failures].sort(([a], [b]) => byCodePoint(a, b));
      told = first === undefined ? { text: "", reason: "" } : { text: textOf(...first), reason: common(first[1]) };
      return told.text;
    },
  };
}
