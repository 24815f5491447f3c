import type { Config } from "../../config/config.ts";
import type { Diagnostic } from "../../config/diagnostic.ts";
import { groupVersion } from "../../config/group-version.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import type { MeshNetworks } from "../../config/kinds/mesh-networks.ts";
import { kubernetesKindOf } from "../../config/kubernetes/kinds.ts";
import type { ParsedObject } from "../../config/parse.ts";
import { readConfig } from "../../config/read-config.ts";
import { readMeshConfig, readMeshNetworks } from "../../config/read-mesh-config.ts";
import { isConfig } from "../../config/sort-objects.ts";
import { fieldsOf, textOf } from "../../config/untyped.ts";
import type { OriginAbout, OriginObject } from "../../registry/origin.ts";

/** What one object of an origin comes to. */
export interface ReadObject {
  readonly config?: Config;
  /** Kubernetes' own, or of a kind that nothing here knows. */
  readonly object?: ParsedObject;
  readonly other?: ParsedObject;
  readonly meshConfig?: MeshConfig;
  readonly meshNetworks?: MeshNetworks;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads an object as its origin gave it. */
export function readCollected(about: OriginAbout, { object, version }: OriginObject): ReadObject {
  const { apiVersion, kind, metadata, ...fields } = object;
  const { name, namespace: space, ...more } = fieldsOf(metadata);
  const namespace = textOf(space);
  const parsed: ParsedObject = {
    ...fields,
    apiVersion: textOf(apiVersion),
    kind: textOf(kind),
    metadata: {
      ...more,
      name: textOf(name),
      ...(namespace === "" ? {} : { namespace }),
      resourceVersion: version,
    },
    origin: {
      key: { group: groupVersion(textOf(apiVersion)).group, kind: textOf(kind), name: textOf(name), namespace },
      file: placeOf(about.cluster, namespace, version),
      line: 0,
    },
  };
  if (isConfig(parsed)) {
    // The server has refused or dropped what it does not know; what is new to us is new in its release.
    const { value, diagnostics } = readConfig(parsed, { unknownFields: "ignore" });
    return value === undefined ? { diagnostics } : { config: value, diagnostics };
  }
  if (parsed.kind === "ConfigMap") return readSettings(parsed);
  const isKnown = kubernetesKindOf(parsed.origin.key.group, parsed.kind) !== undefined;
  return { ...(isKnown ? { object: parsed } : { other: parsed }), diagnostics: [] };
}

/** Where an object of a cluster stands, for people. */
function placeOf(cluster: string, namespace: string, version: string): string {
  return `cluster ${cluster}, ${namespace === "" ? "" : `namespace ${namespace}, `}resourceVersion ${version}`;
}

/** The mesh's settings, as Istio's installation keeps them: the only ConfigMap that is collected. */
function readSettings({ data, origin }: ParsedObject): ReadObject {
  const { mesh, meshNetworks } = fieldsOf(data);
  const config = typeof mesh === "string" ? readMeshConfig(mesh, origin.file) : undefined;
  const networks = typeof meshNetworks === "string" ? readMeshNetworks(meshNetworks, origin.file) : undefined;
  const diagnostics: readonly Diagnostic[] = [...(config?.diagnostics ?? []), ...(networks?.diagnostics ?? [])];
  return {
    ...(config === undefined ? {} : { meshConfig: config.value }),
    ...(networks === undefined ? {} : { meshNetworks: networks.value }),
    diagnostics,
  };
}
