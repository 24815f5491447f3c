import { create } from "@bufbuild/protobuf";
import {
  type DeltaDiscoveryResponse,
  DeltaDiscoveryResponseSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from "../../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import { isWildcard, typeUrlOf } from "../../snapshot/resource-type.ts";
import type { SnapshotReader } from "../../snapshot/snapshot-reader.ts";
import { binaryResources } from "../connect/binary-resources.ts";
import { findResource, type SelectedPart } from "../select-resources.ts";
import type { StreamAnswer } from "./stream.ts";

/** What an answer consists of, in binary, before there is room for a message. */
export async function valuesOf(reader: SnapshotReader, answer: StreamAnswer): Promise<readonly Uint8Array[]> {
  return binaryResources(reader, await partsOf(reader, answer));
}

/** Clusters and listeners of a state-of-the-world stream come whole, with what is gone until it is said to be. */
async function partsOf(reader: SnapshotReader, answer: StreamAnswer): Promise<readonly SelectedPart[]> {
  const { kind, type, tree, names, gone, changed } = answer;
  if (kind === "delta" || !isWildcard(type)) return changed;
  const lingering = gone.flatMap(({ name, segment }) => (segment === undefined ? [] : [{ name, segment }]));
  if (names === "all") return [...tree.segments.map((segment) => ({ segment })), ...lingering];
  const found = await Promise.all(names.map((name) => findResource(reader, tree, name)));
  return [...found.flat(), ...lingering];
}

export function wholeMessage({ type, version, nonce }: StreamAnswer, values: readonly Uint8Array[]): DiscoveryResponse {
  const typeUrl = typeUrlOf(type);
  const resources = values.map((value) => ({ typeUrl, value }));
  return create(DiscoveryResponseSchema, { versionInfo: version, typeUrl, nonce, resources });
}

export function deltaMessage(
  { type, changed, removed, version, nonce }: StreamAnswer,
  values: readonly Uint8Array[],
): DeltaDiscoveryResponse {
  const typeUrl = typeUrlOf(type);
  const resources = changed.map((resource, i) => ({
    name: resource.name,
    version: resource.version,
    resource: { typeUrl, value: values[i] ?? new Uint8Array() },
  }));
  const removedResources = [...removed];
  return create(DeltaDiscoveryResponseSchema, {
    systemVersionInfo: version,
    typeUrl,
    nonce,
    resources,
    removedResources,
  });
}
