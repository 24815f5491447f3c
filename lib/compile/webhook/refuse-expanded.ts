import { fileOrigin, PortolanError } from "../../base/diagnostic.ts";
import { expandedSizes } from "../../config/documents/parse.ts";
import { at, error } from "../../config/finding.ts";
import type { SourceFile } from "../../config/folder/directory.ts";
import { limits } from "../../limits/limits.ts";

/**
 * Refuses files that are longer than a body may be once their aliases are written out: whoever reads them goes through that much.
 *
 * @throws PortolanError that names the document at which they come to be too long
 */
export function refuseExpanded(name: string, files: readonly SourceFile[]): void {
  let total = 0;
  for (const { file, text } of files) {
    for (const { line, size } of expandedSizes(text)) {
      total += size;
      if (total <= limits.sourceBytes) continue;
      const message = `expands to too many values: with all aliases written out, the files up to here are longer than ${limits.sourceBytes} characters`;
      const hint = "write fewer aliases, or split the source";
      throw new PortolanError(`source ${name} was left as it was: its aliases make it too long`, [
        at(fileOrigin(file, line), error([], message, hint, "unreadable-document")),
      ]);
    }
  }
}
