/** One change of a folder's files, as text: another one in each of ten rounds. */
import type { SourceFile } from "../../lib/config/folder/directory.ts";

type Edit = (text: string, round: number) => string;

export const folderEdits: Readonly<Record<"virtual-service" | "endpoint", Edit>> = {
  /** Another timeout in one VirtualService. */
  "virtual-service": (before, round) => before.replace(/"timeout":"\d+s"/, `"timeout":"${round + 10}s"`),
  /** Another one of a slice's ten endpoints is not ready. */
  endpoint: (before, round) => {
    let at = 0;
    return before.replace(/"conditions":\{"ready":true\}/g, (ready) =>
      at++ === round ? '"conditions":{"ready":false}' : ready,
    );
  },
};

/** Services of the synthetic mesh that are alike: with a VirtualService, and subsets. */
type Service = "app-0" | "app-5";

export const editedFiles = (
  files: readonly SourceFile[],
  service: Service,
  edit: (text: string) => string,
): readonly SourceFile[] =>
  files.map((file) => (file.file === `${service}.yaml` ? { ...file, text: edit(file.text) } : file));
