import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { PortolanError, unreachable } from "../../base/diagnostic.ts";
import { readStoreLocation } from "../../storage/store-location.ts";

/**
 * Makes sure that neither of two stores lies in the other, also by way of symbolic links: everything in a folder, or below a prefix, is of
 * the store there, so a copy within its original would be copied into itself, again and again.
 *
 * @throws PortolanError
 */
export async function needDifferentStores(original: string, copy: string): Promise<void> {
  const [from, to] = [await wayTo(original), await wayTo(copy)];
  if (from === to) throw new PortolanError(`the copy is the store itself: ${copy}`);
  const where = to.startsWith(from) ? "lies in" : from.startsWith(to) ? "holds" : undefined;
  if (where !== undefined)
    throw new PortolanError(
      `the copy, ${copy}, ${where} its original, ${original}, and would be copied into itself: name a place beside it`,
    );
}

/** A place with all its places around it in front, each ended by what no name has in it. */
async function wayTo(place: string): Promise<string> {
  const location = readStoreLocation(place);
  switch (location.kind) {
    case "folder":
      return `${(await realFolder(resolve(location.path))).replace(/[/\\]$/, "")}${sep}`;
    case "s3":
      return `s3:${location.endpoint ?? ""} ${location.bucket}/${location.prefix}`;
    case "gs":
      return `gs: ${location.bucket}/${location.prefix}`;
    case "az":
      return `az:${location.endpoint ?? ""} ${location.account}/${location.container}/${location.prefix}`;
    default:
      return unreachable(location);
  }
}

/** A folder as it lies, without symbolic links; of one that is not there yet, the nearest around it that is. */
async function realFolder(path: string): Promise<string> {
  const around = dirname(path);
  return realpath(path).catch(async () => (around === path ? path : join(await realFolder(around), basename(path))));
}
