/** Compiles a mesh in a thread that has too little memory for it: `node dying-slices.ts <folder>`. Writes what came of it, as JSON. */
import { createSliceThreads } from "../../../lib/cli/serve/slice-threads.ts";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { readHead } from "../../../lib/snapshot/head/head.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";
import { syntheticMesh } from "../../bench/synthetic-mesh.ts";

const [where = ""] = process.argv.slice(2);
const log: string[] = [];
const onTrouble = (reason: string) => void log.push(reason);
// Less than such a mesh takes, and more than the programs that read it.
const threads = createSliceThreads({ where, threads: 1, memoryMib: 40, onTrouble });
const store = fileStore(where);
await writeShard(store, "main", [{ file: "mesh.yaml", text: syntheticMesh(200).text }]);
const fanOut = { dispatch: threads.dispatch, most: 3, sliceBytes: 1, waitMs: 60_000, onTrouble };
const said = await createRecompiler({ store, fanOut })().then(() => "published", String);
await threads.close();
process.stdout.write(JSON.stringify({ said, log, isPublished: (await readHead(store)) !== undefined }));
