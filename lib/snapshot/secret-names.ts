import type { CompiledResource, TextChunkList } from "./compiled.ts";
import { memoizeEach } from "./memoize/memoize-each.ts";

/** A reference to a secret of the control plane, as proto JSON writes it. Those of an agent beside the proxy have no such scheme. */
const reference = /"name":"((?:kubernetes|kubernetes-gateway|configmap|clustertrustbundle):\/\/[^"\\]+)","sdsConfig":/g;

/** Names of the secrets that resources name, which their proxies may have for it; with repetitions. Remembers what lists of runs name, which they share. */
export function createSecretNames(): (resources: readonly CompiledResource[]) => readonly string[] {
  const inRuns = memoizeEach(({ runs }: TextChunkList) => runs.flatMap(({ text }) => namesIn(text)));
  return (resources) => resources.flatMap((resource) => resource.runLists?.flatMap(inRuns) ?? namesIn(resource.text));
}

const namesIn = (text: string): readonly string[] =>
  text.includes("kubernetes") || text.includes("configmap") || text.includes("clustertrustbundle")
    ? [...text.matchAll(reference)].map(([, name = ""]) => name)
    : [];
