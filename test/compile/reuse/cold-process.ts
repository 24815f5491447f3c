/** A process that compiles a store's sources once: `node cold-process.ts <folder of the store> <build>`. Prints what came of it as JSON. */
import { createWorldRecompiler } from "../../../lib/compile/recompile.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";
import { madePartsIn } from "./parts-made.ts";

const [folder = "", build = ""] = process.argv.slice(2);
const { kind, version, diagnostics, compiled } = await createWorldRecompiler({ store: fileStore(folder), build })();
console.log(JSON.stringify({ kind, version, diagnostics, ...madePartsIn(compiled.value) }));
