/** What is left of the work that one trace may do on rules: configurations may be hostile. */
export interface Work {
  /** @returns false where nothing is left */
  spend(units?: number): boolean;
}

/** One unit is about one matcher. */
const maxUnits = 1_000_000;
/** Envoy takes no message that is nested deeper. */
export const maxDepth = 100;

/** What is said of rules that are too many or too deep. */
export const tooMuch = "more rules than are followed here";

export function createWork(units = maxUnits): Work {
  let left = units;
  return {
    spend(wanted = 1) {
      left -= wanted;
      return left >= 0;
    },
  };
}
