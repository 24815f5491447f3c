/** Reproducible chance: the same seed throws the same dice, on every machine. */
export interface Dice {
  /** 0 to `below` - 1. */
  int(below: number): number;
  chance(percent: number): boolean;
  /** @throws when there is nothing to choose from */
  pick<T>(from: readonly T[]): T;
  /** At least `min` and at most `max` different elements, in any order. */
  some<T>(from: readonly T[], min: number, max: number): T[];
  /** Between `min` and `max` things, made one after the other. */
  list<T>(min: number, max: number, make: () => T): T[];
  /** The fields that `make` gives, or none. */
  maybe<T extends object>(percent: number, make: () => T): T | Record<never, never>;
}

export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  // Mulberry32: small, and good enough to choose test data.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number): number => Math.floor(next() * below);
  const chance = (percent: number): boolean => int(100) < percent;
  const pick = <T>(from: readonly T[]): T => {
    const [chosen] = from.slice(int(from.length));
    if (chosen === undefined) throw new Error("nothing to choose from");
    return chosen;
  };
  const some = <T>(from: readonly T[], min: number, max: number): T[] =>
    shuffled({ int }, from).slice(0, min + int(Math.min(max, from.length) - min + 1));
  const list = <T>(min: number, max: number, make: () => T): T[] =>
    Array.from({ length: min + int(max - min + 1) }, make);
  const maybe = <T extends object>(percent: number, make: () => T): T | Record<never, never> =>
    chance(percent) ? make() : {};
  return { int, chance, pick, some, list, maybe };
}

/** The elements in another order. */
export function shuffled<T>(dice: Pick<Dice, "int">, list: readonly T[]): readonly T[] {
  return list
    .map((element) => [dice.int(2 ** 30), element] as const)
    .sort(([a], [b]) => a - b)
    .map(([, element]) => element);
}
