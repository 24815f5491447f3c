import { type Config, defaultCreationTimeMs } from "../../lib/config/config.ts";
import { type LegacyConfigs, type LegacyWorld, noLegacyConfigs } from "../../lib/v1/legacy-world.ts";
import { readV1World } from "../conformance/v1-world.ts";

/** The legacy suite's folder in the shared data. */
export const suite = new URL("../../../shared/conformance/v1/", import.meta.url);

/** A world with the shared `shop` registry and no objects. */
export const shop: LegacyWorld = readV1World(
  { variant: "0.8", registry: "shop", meshBase: "plain" },
  suite,
  suite,
).value;

export const legacyConfigs: LegacyConfigs = noLegacyConfigs;

export function config<Spec>(kind: string, name: string, namespace: string, spec: Spec): Config<Spec> {
  return {
    meta: {
      kind,
      group: "config.istio.io",
      version: "v1alpha2",
      name,
      namespace,
      domain: "cluster.local",
      labels: {},
      annotations: {},
      resourceVersion: "",
      creationTimestampMs: defaultCreationTimeMs,
    },
    spec,
    origin: { key: { group: "config.istio.io", kind, name, namespace }, file: "input.yaml", line: 1 },
  };
}
