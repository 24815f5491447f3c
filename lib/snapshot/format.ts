import { PortolanError } from "../base/diagnostic.ts";
import type { StoredRoot } from "./root.ts";

/**
 * The format of the roots that are written: 5, the node index says in which cluster a node runs; 6 where documents of the v1 API are put
 * together from chunks, since a reader of 5 would not find them. Those before are read too (4: the node index does not say it; 3: lists of parts say all of long resources; 2: the node index and many lists of a long resource listed where they are named; 1: type tables whole), so a change that a reader of the one before would get wrong is a new number here, and a store of the old one in test/snapshot/formats.
 * What a reader may pass over (a field more) is no new format.
 */
export const rootFormat = 5;

/** Of roots whose v1 documents are in chunks. The newest format that is read. */
export const chunkedV1Format = 6;

/** The same of HEAD, which says it from its second format on. */
export const headFormat = 1;

/** What a newer version of Portolan has written: whole, and nothing that this one may judge, rebuild or replace. */
export class NewerFormat extends PortolanError {}

/** A text that no version has written as a root. */
export class NoRoot extends PortolanError {}

/** @throws PortolanError for a root in a format of another version, NoRoot for what is none: a request may name any blob */
export function readRoot(hash: string, text: string): StoredRoot {
  const root = objectIn(text);
  if (root === undefined || (root.tables ?? root.format ?? root.compiler) === undefined)
    throw new NoRoot(`blob ${hash} is no root`);
  const { format = rootFormat, compiler = "an unknown compiler", sources = [] } = root;
  const name = `root ${hash.slice(0, 12)}`;
  refuseNewer(name, { format, known: chunkedV1Format, author: compiler });
  const { tables, classes, classifier, nodes, nodeList, diagnostics } = root;
  if (
    tables === undefined ||
    classes === undefined ||
    classifier === undefined ||
    (nodes ?? nodeList) === undefined ||
    diagnostics === undefined
  ) {
    throw new PortolanError(
      `${name} was written by ${compiler} in a format that this version does not read; publish into a new store`,
    );
  }
  return { ...root, compiler, sources, tables, classes, classifier, diagnostics };
}

function objectIn(text: string): Partial<StoredRoot> | undefined {
  try {
    const json: Partial<StoredRoot> | null = JSON.parse(text);
    return typeof json === "object" && json !== null ? json : undefined;
  } catch {
    return undefined;
  }
}

/** @throws NewerFormat */
export function refuseNewer(
  what: string,
  { format, known, author }: { readonly format: number; readonly known: number; readonly author: string },
): void {
  if (format <= known) return;
  throw new NewerFormat(
    `${what} was written by ${author} in format ${format}, and this version reads formats up to ${known}: ` +
      "update it, or have the newer one roll back to what was there before (docs/operations.md)",
  );
}
