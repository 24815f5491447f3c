import type { Diagnostic, Origin } from "../../base/diagnostic.ts";
import { createLocator } from "../../config/documents/locate.ts";
import { type ObjectSource, parseStream } from "../../config/documents/parse.ts";
import { networksFile, type SourceFile } from "../../config/folder/directory.ts";

/**
 * Messages about objects of files, each with the line of the field that it is about; where that is not written, of what would hold it.
 * Reads those files anew with their positions, which is slow: for messages that people are about to read.
 *
 * @param messages with the lines of their objects; those that have the line of a field already stay
 */
export function atFields(messages: readonly Diagnostic[], files: readonly SourceFile[]): readonly Diagnostic[] {
  const named = new Map(files.map((file) => [(file.under ?? "") + file.file, file]));
  const networks = files.find(({ file }) => file === networksFile);
  const placed = new Map<Diagnostic, Diagnostic>();
  const inFiles = Map.groupBy(
    messages.filter(({ path }) => path.length > 0),
    ({ origin }) => (origin.key.kind === "MeshNetworks" ? networks : named.get(origin.file)),
  );
  for (const [file, some] of inFiles) {
    if (file === undefined) continue;
    const name = (file.under ?? "") + file.file;
    const sourceOf = sourcesIn(file, name);
    for (const [source, ofOne] of Map.groupBy(some, ({ origin }) => sourceOf(origin))) {
      if (source === undefined) continue;
      const places = source.locator.locateAll(ofOne.map(({ path }) => [...source.path, ...path]));
      for (const [index, one] of ofOne.entries())
        placed.set(one, {
          ...one,
          origin: { ...one.origin, file: name, line: places[index]?.line ?? one.origin.line },
        });
    }
  }
  return messages.map((message) => placed.get(message) ?? message);
}

/** The same round after round: a file is read anew only for messages that it has not had with the same text. */
export function createFieldLines(): typeof atFields {
  let known: ReadonlyMap<string, Located> = new Map();
  return (messages, files) => {
    const texts = new Map(files.map(({ file, under = "", text }) => [under + file, text]));
    const textOf = ({ origin }: Diagnostic) =>
      texts.get(origin.key.kind === "MeshNetworks" ? networksFile : origin.file) ?? "";
    const locatedBefore = (one: Diagnostic) => {
      const found = known.get(placeKey(one));
      return found?.text === textOf(one) ? found : undefined;
    };
    const fresh = messages.filter((one) => locatedBefore(one) === undefined);
    const placed = new Map(atFields(fresh, files).map((one, index) => [fresh[index], one.origin]));
    const next = new Map<string, Located>();
    const located = messages.map((one) => {
      const origin = placed.get(one) ?? locatedBefore(one)?.origin ?? one.origin;
      next.set(placeKey(one), { text: textOf(one), origin });
      return { ...one, origin };
    });
    known = next;
    return located;
  };
}

interface Located {
  readonly text: string;
  readonly origin: Origin;
}

const placeKey = ({ origin: { file, line, key }, path }: Diagnostic): string =>
  JSON.stringify([file, line, key.kind, key.name, path]);

function sourcesIn({ file, text }: SourceFile, name: string): (origin: Origin) => ObjectSource | undefined {
  if (file === networksFile) {
    const document = { text, line: 1 };
    const whole: ObjectSource = { document, locator: createLocator(document), path: [] };
    return () => whole;
  }
  const { value, sourceOf } = parseStream(text, { file: name });
  const sources = new Map(value.map((object) => [object.origin.line, { object, source: sourceOf(object) }]));
  return ({ key, line }) => {
    const found = sources.get(line);
    const isIt = found?.object.kind === key.kind && found.object.metadata.name === key.name;
    return isIt ? found.source : undefined;
  };
}
