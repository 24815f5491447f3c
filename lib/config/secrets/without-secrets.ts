/** Takes secrets out of the texts of a source, which is stored in clear text. */
import type { Diagnostic } from "../../base/diagnostic.ts";
import { documentLeftOut, type LeftOutReason } from "../documents/left-out-document.ts";
import type { ParsedObject } from "../documents/parse.ts";
import { replaceIn } from "../documents/replace.ts";
import { splitDocuments } from "../documents/split-documents.ts";
import { shownObjects } from "../fail-closed/shown-objects.ts";
import { type SourceFile, settingsFile } from "../folder/directory.ts";
import { readFolderSettings } from "../folder/read-folder-settings.ts";
import { withoutFields } from "./left-out.ts";
import { isSecret, secretHint, withoutValues } from "./secret-objects.ts";
import { mayHoldSecret } from "./secret-words.ts";
import { type FoundSecrets, type SearchOptions, secretsIn } from "./secrets-in-files.ts";

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
    const isSettingsSame = settingsTextIn(files) === known.get(settingsFile)?.from.text;
    const inlineSymmetricKeys = isSettingsSame ? allowed : symmetricKeysIn(files);
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
  const text = settingsTextIn(files);
  return text === undefined ? undefined : readFolderSettings(text, settingsFile).value.inlineSymmetricKeys;
}

const settingsTextIn = (files: readonly SourceFile[]): string | undefined =>
  files.find(({ file }) => file === settingsFile)?.text;

/** One turn finds what another one has uncovered: what hides in a comment is looked for where nothing else is. */
const maxTurns = 8;

function withoutSecretsIn(file: SourceFile, options: SearchOptions): SourceFile {
  if (!mayHoldSecret(file.text)) return file;
  let { text } = file;
  for (let turn = 0; ; turn += 1) {
    const found = secretsIn(file.file, text, options);
    if (isClean(found)) return text === file.text ? file : { ...file, text };
    const next = turn < maxTurns ? withoutFound(text, found) : text;
    // Whatever could not be taken out alone takes the whole text with it.
    if (next === text) return { ...file, text: `${leftOut(unsearched, text)}\n` };
    text = next;
  }
}

const unsearched = {
  message: "nothing of this is stored: it holds a secret, or cannot be searched for one",
  hint: secretHint,
};

const isClean = ({ inObjects, inOthers, between }: FoundSecrets): boolean =>
  inObjects.length + inOthers.length + between.length === 0;

function withoutFound(text: string, { inObjects, inOthers, between }: FoundSecrets): string {
  const replaced = [
    ...inObjects.flatMap(({ object, source, found }) =>
      source === undefined ? [] : [{ ...source, text: textWithout(object, found) }],
    ),
    ...inOthers.map(({ other: { document, path }, found }) => ({
      document,
      path,
      text: leftOutFor(found, document.text),
    })),
  ];
  if (replaced.length > 0) return replaceIn(text, replaced, leftOut(unsearched, text));
  return between.reduce((from, found) => withoutLine(from, found), text);
}

const leftOutFor = ([found]: readonly Diagnostic[], text: string): string => leftOut(found ?? unsearched, text);

/** What stands in place of a text: kinds and namespaces are left of it, so that what fails closed does. */
function leftOut(reason: LeftOutReason, text: string): string {
  const { kinds, namespaces } = shownObjects(text);
  const objects = kinds.flatMap(({ group, kind }) => {
    const object = { apiVersion: group, kind };
    return namespaces.length === 0 ? [object] : namespaces.map((namespace) => ({ ...object, namespace }));
  });
  return documentLeftOut(reason, objects);
}

function textWithout(object: ParsedObject, found: readonly Diagnostic[]): string {
  if (isSecret(object)) {
    const { origin: _origin, ...bare } = withoutValues(object);
    return JSON.stringify(bare);
  }
  // Without its name it would be no object.
  const isNameless = found.some(({ path: [field, member] }) => field === "metadata" && member === "name");
  return isNameless ? leftOutFor(found, JSON.stringify(object)) : withoutFields(object, found);
}

/** @param found in a comment, which goes with those that follow it, or in a document that no reader sees all of, which is left out */
function withoutLine(text: string, found: Diagnostic): string {
  const { line } = found.origin;
  const lines = text.split("\n");
  let at = line - 1;
  for (; isCommented(lines[at]); at += 1) lines[at] = withoutComment(lines[at] ?? "");
  if (at > line - 1) return lines.join("\n");
  const document = splitDocuments(text).findLast((one) => one.line <= line);
  return document === undefined
    ? text
    : replaceIn(text, [{ document, path: [], text: leftOutFor([found], document.text) }], "");
}

const comment = /(?:^|\s)#/;

const isCommented = (line: string | undefined): boolean => line !== undefined && comment.test(line);

function withoutComment(line: string): string {
  const before = line.slice(0, comment.exec(line)?.index ?? 0);
  return before.trim() === "" ? "# (a secret was left out)" : before.trimEnd();
}
