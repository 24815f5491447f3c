import { byCodePoint, PortolanError } from "../config/diagnostic.ts";
import { kindSchemas } from "../config/kind-registry.ts";
import type { KindSchema } from "../config/kind-schema.ts";
import { nearestName } from "../config/nearest-name.ts";

/**
 * The kind that a word on the command line means: its plural, singular or its name, in any case.
 *
 * @throws PortolanError for any other word; hyphens, as very old releases had them, get a hint
 */
export function kindNamed(word: string): KindSchema {
  const plain = word.toLowerCase();
  const found = kindSchemas.find(({ kind, plural }) => plural === plain || kind.toLowerCase() === plain);
  if (found !== undefined) return found;
  const joined = plain.replaceAll("-", "");
  if (joined !== plain && kindSchemas.some(({ kind, plural }) => plural === joined || kind.toLowerCase() === joined)) {
    throw new PortolanError(`types are written without hyphens: ${joined} instead of ${word}`);
  }
  const names = kindSchemas.map(({ kind }) => kind.toLowerCase()).sort(byCodePoint);
  const meant = nearestName(plain, names);
  throw new PortolanError(
    `there is no type ${word}${meant === undefined ? "" : `; did you mean ${meant}?`} Known: ${names.join(", ")}`,
  );
}
