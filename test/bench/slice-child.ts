/**
 * One process of the benchmark `compile`: `node slice-child.ts <folder of the store> <slices>` compiles the second of so many slices of
 * what the store's sources hold, as a thread or a function does that is sent a slice, and prints a line of JSON.
 */
import { compilerVersion } from "../../lib/compile/compile.ts";
import { createSliceMaker } from "../../lib/compile/slices/compile-slice.ts";
import { sourceVersions } from "../../lib/compile/slices/source-versions.ts";
import { readRecordedSettings } from "../../lib/compile/world/recorded-settings.ts";
import { createWorldEncoder } from "../../lib/snapshot/worlds/encode-world.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import type { SliceRow } from "./compile.bench.ts";

const [folder = "", slices = "16"] = process.argv.slice(2);
const store = fileStore(folder);
const of = Number(slices);
const sources = await sourceVersions(store, [], { published: async () => new Map(), tell: () => {} });
const start = performance.now();
const plan = { compiler: compilerVersion, sources, settings: readRecordedSettings({}), of };
const { world } = await createSliceMaker(store, createWorldEncoder(), { remembers: false })({ plan, index: 1 });
const ms = Math.round(performance.now() - start);
const rssMib = Math.round(process.resourceUsage().maxRSS / 1_024);
console.log(JSON.stringify({ slices: of, classes: world.classes.length, ms, rssMib } satisfies SliceRow));
