/** Takes secrets out of the texts of a source, which is stored in clear text. */
import type { OtherText } from "../documents/parse.ts";
import { replaceIn } from "../documents/replace.ts";
import { type SourceFile, settingsFile } from "../folder/directory.ts";
import { readFolderSettings } from "../folder/read-folder-settings.ts";
import { documentLeftOut, withoutFields } from "./left-out.ts";
import { isSecret, secretHint, withoutValues } from "./secret-objects.ts";
import { mayHoldSecret } from "./secret-words.ts";
import { type SearchOptions, secretsIn, secretsInFiles } from "./secrets-in-files.ts";

/**
 * Files without secrets: a Secret has no values any more, an object with a secret in a field has not that field and reads as refused,
 * a document that cannot be searched is left out, and so is a comment. All else stays as it is, on its line. Whoever reads the result
 * says of it what was left out.
 *
 * @param inlineSymmetricKeys as the folder's `portolan.yaml` has it among the files; `refuse`: whatever that says
 */
export function withoutSecrets(
  files: readonly SourceFile[],
  inlineSymmetricKeys = symmetricKeysIn(files),
): readonly SourceFile[] {
  return files.map((file) => withoutSecretsIn(file, { inlineSymmetricKeys }));
}

/** A filter that is given the files of one folder time after time: of what did not change nothing is searched again. */
export function createSecretsFilter(): (files: readonly SourceFile[]) => readonly SourceFile[] {
  let known: ReadonlyMap<string, { readonly from: SourceFile; readonly to: SourceFile }> = new Map();
  let allowed: SearchOptions["inlineSymmetricKeys"];
  return (files) => {
    const inlineSymmetricKeys = symmetricKeysIn(files);
    const before = inlineSymmetricKeys === allowed ? known : new Map<string, never>();
    const now = files.map((from) => {
      const last = before.get(from.file);
      const isSame =
        last?.from.text === from.text && last.from.problem === from.problem && last.from.under === from.under;
      // A file in which nothing was found stays the very object that was given: others compare by that.
      const clean = last !== undefined && last.from.text === from.text && last.from === last.to;
      const to = isSame && !clean ? last.to : clean ? from : withoutSecretsIn(from, { inlineSymmetricKeys });
      return { from, to };
    });
    known = new Map(now.map((one) => [one.from.file, one]));
    allowed = inlineSymmetricKeys;
    return now.some(({ from, to }) => from !== to) ? now.map(({ to }) => to) : files;
  };
}

/** What the folder says of itself; undefined where it says nothing. */
function symmetricKeysIn(files: readonly SourceFile[]): SearchOptions["inlineSymmetricKeys"] {
  const settings = files.find(({ file }) => file === settingsFile);
  return settings === undefined ? undefined : readFolderSettings(settings.text, settingsFile).value.inlineSymmetricKeys;
}

/** One turn finds what another one has uncovered: what hides in a comment is looked for where nothing else is. */
const maxTurns = 8;

function withoutSecretsIn(file: SourceFile, options: SearchOptions): SourceFile {
  if (!mayHoldSecret(file.text)) return file;
  let { text } = file;
  for (let turn = 0; turn < maxTurns; turn += 1) {
    const next = turned(file.file, text, options);
    if (next === text) break;
    text = next;
  }
  // Whatever could not be taken out alone takes the whole text with it.
  const isClean = secretsInFiles([{ file: file.file, text }], options).length === 0;
  const left = isClean ? text : `${documentLeftOut(unsearched)}\n`;
  return left === file.text ? file : { ...file, text: left };
}

const unsearched = {
  message: "nothing of this is stored: it holds a secret, or cannot be searched for one",
  hint: secretHint,
};

function turned(file: string, text: string, options: SearchOptions): string {
  const { inObjects, inOthers, between } = secretsIn(file, text, options);
  const whole = ({
    document,
    path,
    found,
  }: Pick<OtherText, "document" | "path"> & { readonly found: typeof between }) => ({
    document,
    path,
    text: documentLeftOut(found[0] ?? unsearched),
  });
  const replaced = [
    ...inObjects.flatMap(({ object, source, found }) => {
      if (source === undefined) return [];
      if (isSecret(object)) {
        const { origin: _origin, ...bare } = withoutValues(object);
        return [{ ...source, text: JSON.stringify(bare) }];
      }
      return [{ ...source, text: withoutFields(object, found) }];
    }),
    ...inOthers.map(({ other, found }) => whole({ ...other, found })),
  ];
  if (replaced.length > 0) return replaceIn(text, replaced, documentLeftOut(unsearched));
  return between.reduce((from, { origin }) => withoutComment(from, origin.line), text);
}

/** @param line of the first of comments that follow each other; of anything else nothing is changed, and the whole text is left out */
function withoutComment(text: string, line: number): string {
  const lines = text.split("\n");
  for (let at = line - 1; at < lines.length; at += 1) {
    const [, before] = /^((?:.*\s)?)#/.exec(lines[at] ?? "") ?? [];
    if (before === undefined) break;
    lines[at] = /^\s*$/.test(before) ? `${before}# (a secret was left out)` : before.trimEnd();
  }
  return lines.join("\n");
}
