/** `node worker-edit.ts <folder of the store> <services> <work> <round>`: writes the mesh as a source, with one change of that round. */
import { createShardWriter } from "../../lib/compile/shards/write-shard.ts";
import { fileStore } from "../../lib/storage/files.ts";
import { editedFiles, folderEdits } from "./folder-edits.ts";
import { foldersFiles } from "./mesh-folder.ts";
import { syntheticMesh } from "./synthetic-mesh.ts";

const [folder = "", services = "1000", work = "", round = "0"] = process.argv.slice(2);
const files = foldersFiles(syntheticMesh(Number(services)).text);
const edit = work === "virtual-service" || work === "endpoint" ? folderEdits[work] : undefined;
// A slice has ten endpoints: every second round takes another one of them.
const at = work === "endpoint" ? Math.floor(Number(round) / 2) % 10 : Number(round);
const write = createShardWriter(fileStore(folder), "main", new Map());
await write(edit === undefined ? files : editedFiles(files, "app-0", (before) => edit(before, at)));
