/** `portolan/front`: what serves, without what compiles. It runs where there is `fetch`: Node, Workers, Deno. docs/library.md describes it. */
export { PortolanError } from "../lib/base/diagnostic.ts";
export type { Refusal } from "../lib/front/nodes/refusals.ts";
export type { UnmatchedNode as Stranger } from "../lib/front/nodes/unmatched-nodes.ts";
export { createFront, type Front, type FrontOptions } from "../lib/library/serve.ts";
export { memoryStore } from "../lib/storage/memory.ts";
export type { ObjectStore } from "../lib/storage/object-store.ts";
export { r2Store } from "../lib/storage/r2.ts";
