import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Dice } from "../objects/dice.ts";
import { randomProxySettings } from "../objects/mesh-configs.ts";
import type { Manifest } from "../objects/vocabulary.ts";
import { fieldsOf } from "./value-pool.ts";

const lib = new URL("../../../lib/", import.meta.url).pathname;
/** The packages that a compile uses. */
const packages = ["config", "registry", "mesh", "xds", "v1", "compile"];
const keyPattern = /"((?:[a-z0-9-]+\.)*(?:istio|kubernetes|k8s)\.io\/[A-Za-z0-9._-]+)"/g;
/** Ends of texts that are versions or names of kinds. */
const notAKey = /\/(?:v\d\w*|[A-Z]\w*)$/;
/** Keys that have no domain, or are put together. */
const plainKeys = [
  "app",
  "version",
  "istio",
  "istio-locality",
  "k8s-app",
  "deploymentconfig",
  "pod-template-hash",
  "own",
  "auth.istio.io/80",
  "resource.opentelemetry.io/service.name",
];

/** Every label and annotation that the compiler's code mentions: a new one is edited from the day on which it is read. */
export const metadataKeys: readonly string[] = [
  ...new Set([
    ...plainKeys,
    ...packages.flatMap((packageName) =>
      readdirSync(join(lib, packageName), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        .flatMap((file) => [...readFileSync(join(lib, packageName, file), "utf8").matchAll(keyPattern)])
        .flatMap(([, key]) => (key === undefined || notAKey.test(key) ? [] : [key])),
    ),
  ]),
].sort();

export const metadataParts = ["labels", "annotations"] as const;
export type MetadataPart = (typeof metadataParts)[number];

const values = [
  ...[
    "true",
    "false",
    "1",
    "",
    "a",
    "b",
    "v1",
    "v2",
    "vm",
    "istio",
    "ingressgateway",
    "gw-a",
    "gw-b",
    "ns1",
    "ns2",
    ".",
    "*",
    "~",
  ],
  ...["80", "8080", "http:8080", "net1", "net2", "r1", "r2", "r1.z1.s1", "z1", "s1", "node-1", "node-2", "PreferClose"],
  ...[
    "PreferSameZone",
    "TPROXY",
    "NONE",
    "REDIRECT",
    "RACE_FIRST_TCP_CONNECT",
    "ingress",
    "gateway",
    "sidecar",
    "other:15012",
    "/tmp/x",
    "10.0.0.0/8",
  ],
  ...['{"own":"a"}', "MUTUAL_TLS", "a,b", "80,9090", "shop", "cookie"],
];

/** An object with another value for a label or annotation; at times without it. */
export function withMetadata(dice: Dice, manifest: Manifest, part: MetadataPart, key: string): Manifest {
  const { [key]: before, ...others } = fieldsOf(manifest.metadata[part]);
  if (before !== undefined && dice.chance(25))
    return { ...manifest, metadata: { ...manifest.metadata, [part]: others } };
  const value = key.endsWith("/config") ? JSON.stringify(randomProxySettings(dice)) : dice.pick(values);
  return { ...manifest, metadata: { ...manifest.metadata, [part]: { ...others, [key]: value } } };
}

/** The object as written again: younger, older or just of another version. */
export function touched(dice: Dice, manifest: Manifest): Manifest {
  const creationTimestamp = dice.pick(["2025-12-31T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z", null]);
  const resourceVersion = String(dice.int(1000));
  const { metadata } = manifest;
  return {
    ...manifest,
    metadata: {
      ...metadata,
      ...(dice.chance(60) ? { creationTimestamp } : {}),
      ...(dice.chance(60) ? { resourceVersion } : {}),
    },
  };
}

/** What Kubernetes keeps of a pod in its metadata besides. */
export function withOwner(dice: Dice, manifest: Manifest): Manifest {
  const { metadata } = manifest;
  const { generateName: _, ownerReferences: __, deletionTimestamp: ___, ...rest } = metadata;
  const kind = dice.pick(["ReplicaSet", "ReplicationController", "Job", "StatefulSet"]);
  const name = dice.pick(["shop-5d4", "shop-29461234", "shop"]);
  return {
    ...manifest,
    metadata: {
      ...rest,
      name: metadata.name,
      namespace: metadata.namespace,
      ...dice.maybe(70, () => ({
        generateName: "shop-",
        ownerReferences: [{ kind, name, controller: dice.chance(80) }],
      })),
      ...dice.maybe(20, () => ({ deletionTimestamp: "2026-01-05T00:00:00Z" })),
    },
  };
}
