import { PortolanError } from "../config/diagnostic.ts";
import { createTakeIn } from "./envoy/take-in.ts";
import { openAgentFolder } from "./files/agent-folder.ts";
import { createFileMaker } from "./files/envoy-files.ts";
import type { FileSourceOptions } from "./files/file-sources.ts";
import type { WholeHoldings } from "./held/holding.ts";
import type { Source } from "./held/source.ts";

/**
 * Writes what a source has into an agent's folder, for an Envoy that is started later.
 *
 * @throws PortolanError when the source does not answer, or the folder cannot be written
 */
export async function fetchOnce(source: Source, options: FileSourceOptions): Promise<void> {
  try {
    const holdings = await new Promise<WholeHoldings>((changed, failed) => {
      source.start({ changed, trouble: (why) => failed(new PortolanError(why)), reached() {} });
    });
    const { folder } = await openAgentFolder(options.folder, false);
    const takeIn = createTakeIn(folder, { cds: new Map(), lds: new Map() });
    await takeIn.lead(createFileMaker(options)(holdings), undefined);
  } finally {
    source.close();
  }
}
