import type { CompiledResource, TextRun } from "./compiled.ts";
import { rememberEach } from "./remember-each.ts";

/** A reference to a secret of the control plane, as proto JSON writes it. Those of an agent beside the proxy have no such scheme. */
const reference = /"name":"((?:kubernetes|kubernetes-gateway):\/\/[^"\\]+)","sdsConfig":/g;

/** Names of the secrets that resources name, which their proxies may have for it; with repetitions. Remembers what runs name, which they share. */
export function createSecretNames(): (resources: readonly CompiledResource[]) => readonly string[] {
  const inRun = rememberEach(({ text }: TextRun) => namesIn(text));
  return (resources) => resources.flatMap((resource) => resource.runs?.flatMap(inRun) ?? namesIn(resource.text));
}

const namesIn = (text: string): readonly string[] =>
  text.includes("kubernetes") ? [...text.matchAll(reference)].map(([, name = ""]) => name) : [];
