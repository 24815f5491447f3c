/** Finds out whether another process fills the same source, by the states that both write over each other. */
export interface OtherWriters {
  /** @param writer of the state that lies in the store, before this process writes its own @returns the other process; "" for none */
  see(writer: string | undefined): string;
  /** What was returned last. */
  last(): string;
}

/** A process that ends as this one begins may write once more. */
const mostFarewells = 1;

/** So many states of its own in a row mean that this process is alone again: both write equally often. */
const aloneAfter = 3;

/** @param own names this process; undefined: it has no name, and nothing is found */
export function createOtherWriters(own: string | undefined): OtherWriters {
  let isFirst = true;
  let seen = 0;
  let alone = 0;
  let other = "";
  return {
    see(writer) {
      // What lies there at the start is the last word of the process before.
      if (isFirst || own === undefined) {
        isFirst = false;
        return other;
      }
      if (writer !== undefined && writer !== own) {
        seen += 1;
        alone = 0;
        if (seen > mostFarewells) other = writer;
        return other;
      }
      alone += 1;
      if (alone >= aloneAfter) [other, seen] = ["", 0];
      return other;
    },
    last: () => other,
  };
}
