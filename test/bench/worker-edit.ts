/**
 * `node worker-edit.ts <folder of the store> <services> <round>`: writes the mesh as a source. From round to round it has one change: of a
 * VirtualService in odd rounds, of an endpoint in even ones.
 */
import { createShardWriter } from "../../lib/compile/shards/write-shard.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import { editedFiles, folderEdits } from "./folder-edits.ts";
import { foldersFiles } from "./mesh-folder.ts";
import { syntheticMesh } from "./synthetic-mesh.ts";

const [folder = "", services = "1000", text = "0"] = process.argv.slice(2);
const round = Number(text);
const edited = (before: string): string => {
  const routed = round === 0 ? before : folderEdits["virtual-service"](before, Math.ceil(round / 2));
  // A slice has ten endpoints: every second round takes another one of them.
  return round < 2 ? routed : folderEdits.endpoint(routed, Math.floor(round / 2) % 10);
};
const write = createShardWriter(fileStore(folder), "main", new Map());
await write(editedFiles(foldersFiles(syntheticMesh(Number(services)).text), "app-0", edited));
