import { type Config, defaultCreationTimeMs } from "../../lib/config/config.ts";
import { type LegacyConfigs, type LegacyWorld, noLegacyConfigs } from "../../lib/v1/legacy-world.ts";
import { carriedCases } from "../conformance/carried-cases.ts";
import { readV1World } from "../conformance/v1-world.ts";

/** The legacy suite as the repository carries it: its registries, mesh settings, schemas and tables. */
export const suite = new URL("v1/", carriedCases);

/** A world with the suite's `shop` registry and no objects. */
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
