import { join } from "node:path";
import { PortolanError } from "../base/diagnostic.ts";
import { mapTypes } from "../snapshot/resource-type.ts";
import { type EnvoyFilesOptions, envoyFiles, putFiles } from "./files/envoy-files.ts";
import { openTakenLog, takenName } from "./files/taken-log.ts";
import type { Holding, WholeHoldings } from "./source/resources.ts";
import type { Source } from "./source/source.ts";

/**
 * Writes what a source has into a folder: as what an agent there begins with, and as files for an Envoy that has no agent beside it.
 *
 * @throws PortolanError when the source does not answer, the folder cannot be written, or Envoy could not watch so many files
 */
export async function fetchOnce(source: Source, options: EnvoyFilesOptions): Promise<void> {
  try {
    const holdings = await new Promise<WholeHoldings>((changed, failed) => {
      source.start({ changed, trouble: (why) => failed(new PortolanError(why)), reached() {} });
    });
    const { log } = await openTakenLog(join(options.folder, takenName));
    await log.keep(mapTypes(holdings, textsOf));
    // After what an agent begins with, which has no bound.
    await putFiles(options.folder, envoyFiles(holdings, options));
  } finally {
    source.close();
  }
}

const textsOf = ({ resources }: Holding): ReadonlyMap<string, string> =>
  new Map([...resources.values()].map(({ name, text }) => [name, text]));
