import { type Diagnostic, identityText, PortolanError } from "../../base/diagnostic.ts";
import { type ClosedObject, closedDiagnostic, type SecurityFailure } from "../../config/fail-closed/closed-object.ts";
import type { LoadedDirectory } from "../../config/folder/directory.ts";
import { readAlone } from "../../config/folder/last-valid.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { closedInForce } from "../world/closed-world.ts";
import { settleSettings } from "../world/recorded-settings.ts";
import type { HashedFile } from "./lists/next-list.ts";
import type { ShardList } from "./lists/shard-list.ts";
import { contentOfShard } from "./source-shard.ts";

/** Gives the text of a file by its hash. */
type TextOf = (hash: string) => Promise<string>;

/**
 * Refuses to fill a source with security objects that are refused and of which no valid form is known, so that publishing would close
 * what they select. What was closed before may stay.
 *
 * @param given files that are written now
 * @param texts of the list before and of the next one
 * @throws PortolanError with all errors and warnings of the source, and what would be closed
 */
export async function refuseNewlyClosed(
  name: string,
  given: readonly HashedFile[],
  before: ShardList,
  next: Pick<ShardList, "files" | "kept">,
  textOf: TextOf,
): Promise<void> {
  const known = new Set(before.files.map(({ hash }) => hash));
  const came = given.filter(({ hash }) => !known.has(hash)).map(readAlone);
  if (came.every(({ closed }) => closed.length === 0)) return;
  const content = await contentOf(next, textOf);
  const earlier = new Set(closedInForce(await contentOf(before, textOf)).map(keyOf));
  const closed = closedInForce(content).filter((one) => !earlier.has(keyOf(one)));
  if (closed.length > 0) throw closesSomething(name, closed, content);
}

const keyOf = ({ origin: { key, file } }: ClosedObject): string =>
  key.name === "" ? `${identityText(key)} ${file}` : identityText(key);

async function contentOf({ files, kept }: Pick<ShardList, "files" | "kept">, textOf: TextOf): Promise<LoadedDirectory> {
  const filled = await Promise.all(files.map(async (file) => ({ ...file, text: await textOf(file.hash) })));
  const keptFilled = await Promise.all(kept.map(async (form) => ({ ...form, text: await textOf(form.hash) })));
  return contentOfShard({ files: filled, kept: keptFilled }, "");
}

function closesSomething(name: string, closed: readonly ClosedObject[], content: LoadedDirectory): PortolanError {
  const found = content.diagnostics.filter(({ severity }) => severity !== "info");
  const { rootNamespace } = content.meshConfig;
  const closings = closed.map(
    (one): Diagnostic => ({
      ...closedDiagnostic(one, rootNamespace),
      severity: "error",
      hint: "correct the object, or render a template or a patch first; --accept-closed publishes it all the same, and closes what it selects",
    }),
  );
  return new PortolanError(
    `source ${name} was left as it was: publishing would close what a refused security object selects`,
    [...found, ...closings],
  );
}

/**
 * Whether a source must not come to close something.
 *
 * @param acceptClosed whether somebody has said that it may
 * @param given the setting that is about to be recorded; absent: the recorded one counts
 */
export async function mustRefuseClosed(
  store: ObjectStore,
  acceptClosed: boolean,
  given?: SecurityFailure,
): Promise<boolean> {
  const securityFailure = given ?? (await settleSettings(store, {})).securityFailure;
  return securityFailure === "refuse" || (securityFailure === "close" && !acceptClosed);
}
