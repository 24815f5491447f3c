import { PortolanError } from "../config/diagnostic.ts";
import { type EnvoyFilesOptions, envoyFiles, putFiles } from "./files/envoy-files.ts";
import type { WholeHoldings } from "./held/holding.ts";
import type { Source } from "./held/source.ts";

/**
 * Writes what a source has into a folder, for an Envoy that reads files and has no agent beside it.
 *
 * @throws PortolanError when the source does not answer, the folder cannot be written, or Envoy could not watch so many files
 */
export async function fetchOnce(source: Source, options: EnvoyFilesOptions): Promise<void> {
  try {
    const holdings = await new Promise<WholeHoldings>((changed, failed) => {
      source.start({ changed, trouble: (why) => failed(new PortolanError(why)), reached() {} });
    });
    await putFiles(options.folder, envoyFiles(holdings, options));
  } finally {
    source.close();
  }
}
