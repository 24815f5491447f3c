import type { Config } from "../../config/config.ts";
import { type Diagnostic, fileOrigin, PortolanError } from "../../config/diagnostic.ts";
import { asParsed } from "../../config/documents/as-parsed.ts";
import type { ParsedObject } from "../../config/documents/parse.ts";
import { isConfig } from "../../config/folder/sort-objects.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import type { MeshNetworks } from "../../config/kinds/mesh-networks.ts";
import { kubernetesKindOf } from "../../config/kubernetes/kinds.ts";
import { readConfig } from "../../config/read-config.ts";
import { readMeshConfig, readMeshNetworks } from "../../config/read-mesh-config.ts";
import { fieldsOf, textOf } from "../../config/untyped.ts";
import type { ConsulListing } from "../../registry/consul/convert.ts";
import { readStoredService } from "../../registry/consul/stored-service.ts";
import type { OriginAbout, OriginObject } from "../../registry/origin.ts";
import type { CollectedShard } from "./collected-shard.ts";

/** What one object of an origin comes to. */
export interface ReadObject {
  readonly config?: Config;
  /** Kubernetes' own, or of a kind that nothing here knows. */
  readonly object?: ParsedObject;
  readonly other?: ParsedObject;
  readonly meshConfig?: MeshConfig;
  readonly meshNetworks?: MeshNetworks;
  readonly consul?: ConsulListing;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads an object as its origin gave it. */
export function readCollected({ about, name: source }: CollectedIn, origin: OriginObject): ReadObject {
  if (about.kind === "consul") return readConsul(source, origin);
  const { object, version } = origin;
  const metadata = fieldsOf(object.metadata);
  const place = placeOf(about, source, textOf(metadata.namespace), version);
  const parsed = asParsed({ ...object, metadata: { ...metadata, resourceVersion: version } }, place);
  if (isConfig(parsed)) {
    // The server has refused or dropped what it does not know; what is new to us is new in its release.
    const { value, diagnostics } = readConfig(parsed, {
      unknownFields: "ignore",
      names: about.kind === "mcp" ? "free" : "checked",
    });
    return value === undefined ? { diagnostics } : { config: value, diagnostics };
  }
  if (parsed.kind === "ConfigMap") return readSettings(parsed);
  const isKnown = kubernetesKindOf(parsed.origin.key.group, parsed.kind) !== undefined;
  return { ...(isKnown ? { object: parsed } : { other: parsed }), diagnostics: [] };
}

/** A service that no collector has written is left out: it must not cost its neighbours the compile. */
function readConsul(source: string, { key, object }: OriginObject): ReadObject {
  const file = `source ${source}`;
  try {
    return { consul: readStoredService(object, file), diagnostics: [] };
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    const message = `${key.slice(0, 200)} is no service of Consul as a collector writes it, and is left out`;
    const hint = "restart the source's collector: it writes again what differs";
    const origin = fileOrigin(file);
    return { diagnostics: [{ code: "invalid-value", severity: "error", origin, path: [], message, hint }] };
  }
}

type CollectedIn = Pick<CollectedShard, "about" | "name">;

/** Where an object stands, for people. */
function placeOf(about: OriginAbout, source: string, namespace: string, version: string): string {
  if (about.kind !== "kubernetes") return `source ${source}${version === "" ? "" : `, version ${version}`}`;
  return `cluster ${about.cluster}, ${namespace === "" ? "" : `namespace ${namespace}, `}resourceVersion ${version}`;
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
