import type { CompiledResource } from "./compiled.ts";
import { textsOf } from "./long/long-resource.ts";

/** A reference to a secret of the control plane, as proto JSON writes it. Those of an agent beside the proxy have no such scheme. */
const reference = /"name":"((?:kubernetes|kubernetes-gateway):\/\/[^"\\]+)","sdsConfig":/g;

/** Names of the secrets that resources name, which their proxies may have for it; with repetitions. */
export function secretNamesIn(resources: readonly CompiledResource[]): readonly string[] {
  return resources
    .flatMap(textsOf)
    .flatMap((text) => (text.includes("kubernetes") ? [...text.matchAll(reference)].map(([, name = ""]) => name) : []));
}
