/** One change of a folder's files, as text: another one in each round. */
import type { SourceFile } from "../../lib/config/folder/directory.ts";

type Edit = (text: string, round: number) => string;

export const folderEdits: Readonly<Record<"virtual-service" | "endpoint", Edit>> = {
  /** Another timeout in one VirtualService. */
  "virtual-service": (before, round) => before.replace(/"timeout":"\d+s"/, `"timeout":"${round + 10}s"`),
  /** Others of the ten endpoints of a slice that are not ready: as the digits of a number, so that none comes again in a thousand rounds. */
  endpoint: (before, round) => {
    let at = 0;
    return before.replace(/"conditions":\{"ready":true\}/g, (ready) =>
      ((round + 1) >> at++) & 1 ? '"conditions":{"ready":false}' : ready,
    );
  },
};

export const editedFiles = (files: readonly SourceFile[], edit: Edit, round: number): readonly SourceFile[] =>
  files.map((file) => (file.file === "app-0.yaml" ? { ...file, text: edit(file.text, round) } : file));
