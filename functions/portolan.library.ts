/** `portolan`: files in, a compiled world out, published to a store and served from it. docs/library.md describes it. */
export { type ConfigKey, type Diagnostic, type Origin, PortolanError, type Stage } from "../lib/base/diagnostic.ts";
export { type LoadedDirectory, readFiles, type SourceFile } from "../lib/config/folder/directory.ts";
export { readFolder } from "../lib/config/folder/folder.ts";
export type { Refusal } from "../lib/front/nodes/refusals.ts";
export type { UnmatchedNode as Stranger } from "../lib/front/nodes/unmatched-nodes.ts";
export { type Compile, type CompileOptions, compile, createCompiler } from "../lib/library/compile.ts";
export { type Listening, listen } from "../lib/library/listen.ts";
export { type Published, type PublishOptions, publish } from "../lib/library/publish.ts";
export { createFront, type Front, type FrontOptions } from "../lib/library/serve.ts";
export type { CompiledClass, CompiledResource, CompiledWorld } from "../lib/snapshot/compiled.ts";
export { fileStore } from "../lib/storage/files/files.ts";
export { memoryStore } from "../lib/storage/memory.ts";
export type { ObjectStore } from "../lib/storage/object-store.ts";
export { openStore, type PlaceOptions } from "../lib/storage/open-store.ts";
