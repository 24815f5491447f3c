import { type Config, defaultCreationTimeMs } from "../../lib/config/config.ts";

/** An object of one of Istio's kinds in namespace `shop`, unless said otherwise. */
export function config<Spec>(
  kind: string,
  name: string,
  spec: Spec,
  meta: { readonly namespace?: string; readonly annotations?: Readonly<Record<string, string>> } = {},
): Config<Spec> {
  const key = { kind, name, namespace: meta.namespace ?? "shop" };
  return {
    meta: {
      ...key,
      group: "security.istio.io",
      version: "v1",
      domain: "cluster.local",
      labels: {},
      annotations: meta.annotations ?? {},
      resourceVersion: "",
      creationTimestampMs: defaultCreationTimeMs,
    },
    spec,
    origin: { key, file: "policies.yaml", line: 1 },
  };
}
