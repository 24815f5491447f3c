import { byCodePoint } from "../base/diagnostic.ts";
import { distance } from "../base/nearest-name.ts";

/** Longer texts are compared by what stands in them only. */
const comparedLetters = 128;

/**
 * The names that somebody may have meant, nearest first: those that hold what was written, else those that differ least from it.
 *
 * @returns at most `most`; none that differs in more than a third of its letters
 */
export function nearestNames(written: string, known: Iterable<string>, most = 3): readonly string[] {
  const wanted = written.toLowerCase();
  const ranked: { readonly name: string; readonly rank: number }[] = [];
  for (const name of new Set(known)) {
    const plain = name.toLowerCase();
    if (wanted !== "" && plain.includes(wanted)) ranked.push({ name, rank: (plain.length - wanted.length) / 1e6 });
    else if (Math.max(plain.length, wanted.length) <= comparedLetters) {
      const steps = distance(wanted, plain);
      if (steps <= Math.max(1, Math.ceil(plain.length / 3))) ranked.push({ name, rank: steps });
    }
  }
  ranked.sort((a, b) => a.rank - b.rank || byCodePoint(a.name, b.name));
  return ranked.slice(0, most).map(({ name }) => name);
}

/** `; did you mean a, b or c?`, or nothing where nothing is near. */
export function meantText(written: string, known: Iterable<string>): string {
  const names = nearestNames(written, known);
  if (names.length === 0) return "";
  const [last = "", ...others] = names.toReversed();
  return `; did you mean ${others.length === 0 ? last : `${others.toReversed().join(", ")} or ${last}`}?`;
}
