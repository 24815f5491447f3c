import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { isWildcard, typeUrlOf } from "../snapshot/resource-type.ts";
import { createLoadCache } from "../snapshot/worlds/load-cache.ts";
import { binaryResources } from "./binary-resources.ts";
import type { StreamKind } from "./due.ts";
import { entriesIn, namesIn } from "./name-map.ts";
import { findResource, type SelectedPart } from "./select-resources.ts";
import type { StreamAnswer } from "./stream.ts";
import type { TreeReader } from "./tree-reader.ts";

/** The resources of an answer as they stand in its message. Thousands of streams are told the same: each is written once. */
export interface ResourceRuns {
  of(answer: StreamAnswer): Promise<Uint8Array>;
}

/** @param maxBytes of what is kept */
export function createResourceRuns(reader: TreeReader, maxBytes = 16 * 1024 * 1024): ResourceRuns {
  const cache = createLoadCache<readonly [StreamAnswer, readonly SelectedPart[]], Uint8Array>({
    nameOf: ([{ kind, type }, parts]) => `${kind} ${type} ${parts.map(partName).join(" ")}`,
    maxBytes,
    load: async ([{ kind, type, changed }, parts]) => {
      const values = await binaryResources(reader, parts);
      return runOf(kind, typeUrlOf(type), values, changed);
    },
    sizeOf: (run) => 1_000 + run.length,
  });
  return { of: async (answer) => cache.get([answer, await partsOf(reader, answer)]) };
}

const partName = ({ segment, name }: SelectedPart): string =>
  name === undefined ? segment.hash : `${segment.hash}/${name}`;

/** Clusters and listeners of a state-of-the-world stream come whole, with what is gone until it is said to be. */
async function partsOf(reader: TreeReader, answer: StreamAnswer): Promise<readonly SelectedPart[]> {
  const { kind, type, tree, names, gone, changed } = answer;
  if (kind === "delta" || !isWildcard(type)) return changed;
  const lingering = [...entriesIn(gone)].flatMap(([name, { segment }]) =>
    segment === undefined ? [] : [{ name, segment }],
  );
  if (names === "all") return [...tree.segments.map((segment) => ({ segment })), ...lingering];
  const found = await Promise.all(namesIn(names).map((name) => findResource(reader, tree, name)));
  return [...found.flat(), ...lingering];
}

/** `resources`, in both kinds of answers. */
const resourcesField = 2;

/** Field numbers of google.protobuf.Any. */
const any = { typeUrl: 1, value: 2 };
/** Field numbers of envoy.service.discovery.v3.Resource. */
const resource = { version: 1, resource: 2, name: 3 };

/** Each resource as an element of the field `resources`. */
export function runOf(
  kind: StreamKind,
  typeUrl: string,
  values: readonly Uint8Array[],
  named: readonly { readonly name: string; readonly version: string }[],
): Uint8Array {
  const writer = new BinaryWriter();
  const field = (no: number) => writer.tag(no, WireType.LengthDelimited);
  const writeAny = (value: Uint8Array) => {
    field(any.typeUrl).string(typeUrl);
    field(any.value).bytes(value);
  };
  for (const [i, value] of values.entries()) {
    field(resourcesField).fork();
    if (kind === "whole") writeAny(value);
    else {
      field(resource.version).string(named[i]?.version ?? "");
      field(resource.resource).fork();
      writeAny(value);
      writer.join();
      field(resource.name).string(named[i]?.name ?? "");
    }
    writer.join();
  }
  return writer.finish();
}

/** Field numbers of DiscoveryResponse and DeltaDiscoveryResponse, which are the same as far as both have them. */
const response = { version: 1, typeUrl: 4, nonce: 5, removed: 6 };

/** The rest of an answer's message: with its resources behind it, it is the whole. */
export function beginningOf({
  kind,
  typeUrl,
  version,
  nonce,
  removed,
}: Pick<StreamAnswer, "kind" | "version" | "nonce" | "removed"> & { readonly typeUrl: string }): Uint8Array {
  const writer = new BinaryWriter();
  const write = (no: number, text: string) => writer.tag(no, WireType.LengthDelimited).string(text);
  write(response.version, version);
  write(response.typeUrl, typeUrl);
  write(response.nonce, nonce);
  if (kind === "delta") for (const name of removed) write(response.removed, name);
  return writer.finish();
}
