import { keyText, kindText } from "../../../base/diagnostic.ts";
import { textOf } from "../../../base/untyped.ts";
import { createLanes } from "../../origin/lanes.ts";
import type { Origin, OriginSink, PackedObject } from "../../origin/origin.ts";
import { packed } from "../../origin/packed-object.ts";
import { createBell, defaultPace, type Pace } from "../../origin/retry.ts";
import type { ApiClient } from "./client.ts";
import { discoveredNamespaces } from "./discovered-namespaces.ts";
import { createDiscovery } from "./discovery.ts";
import { createFailureWaits } from "./failure-waits.ts";
import { namedBundles, namedBundlesPart } from "./follow-bundles.ts";
import { followCollection } from "./follow-collection.ts";
import type { ApiItem } from "./item.ts";
import { isOfDefinition, otherKinds, pods, type ReadKind, secrets, selectingKinds } from "./read-kinds.ts";

export interface KubernetesOriginOptions {
  /** Id of the cluster. */
  readonly cluster: string;
  /** Whether to read the names of secrets that hold certificates; false when absent. */
  readonly secretNames?: boolean;
  readonly pace?: Pace;
  /** Items a page, where lists are not streamed. */
  readonly pageSize?: number;
  /** Most characters of JSON that are kept of a kind's list; 1 Gi when absent. */
  readonly listSize?: number;
  /** Milliseconds of any clock that goes on; the system's when absent. */
  readonly now?: () => number;
  /** Milliseconds that a list which streams may say nothing; a minute when absent. */
  readonly quietMs?: number;
  /** Where only so many connections may be open at once: kinds then take turns. Absent: one for each kind. */
  readonly width?: number;
  /** Seconds of a watch; 240 when absent, 2 where kinds take turns. */
  readonly watchSeconds?: number;
}

/** The name of a kind among the parts. */
const partOf = kindText;

const keyOf = ({ group, kind, isClusterScoped }: ReadKind, { metadata }: ApiItem): string =>
  keyText({ group, kind, name: metadata.name, namespace: isClusterScoped ? "" : (metadata.namespace ?? "default") });

function keptOf(read: ReadKind, item: ApiItem): PackedObject {
  const { apiVersion, kind } = item;
  return packed({
    key: keyOf(read, item),
    version: item.metadata.resourceVersion ?? "",
    object: { apiVersion, kind, metadata: read.keptMetadata(item), ...read.keptFields(item) },
  });
}

/** Kinds by name; all of a group as `*.gateway.networking.k8s.io`. */
function namesOf(absent: ReadonlySet<ReadKind>, kinds: readonly ReadKind[]): readonly string[] {
  const known = new Set(kinds.filter((kind) => !absent.has(kind)).map(({ group }) => group));
  const names = [...absent].map((kind) => (known.has(kind.group) ? partOf(kind) : `*.${kind.group}`));
  return [...new Set(names)].sort();
}

/** Seconds of a watch where kinds take turns. */
const turnSeconds = 2;

/**
 * A Kubernetes cluster over nothing but `fetch`: what the mesh reads of it, in all namespaces that it reads. Each kind is a part;
 * one that the server does not have is empty, or stays as it was, and is looked for again. Followed a second time, it goes on
 * where it ended: the caller has to have kept what it was given.
 * @see docs/how-istio-does-it/kubernetes.md#list-and-watch
 */
export function kubernetesOrigin(client: ApiClient, options: KubernetesOriginOptions): Origin {
  const { cluster, secretNames = false, pace = defaultPace, pageSize, listSize, quietMs, width } = options;
  const others = [...otherKinds, ...(secretNames ? [secrets] : [])];
  const kinds = [...selectingKinds, ...others, pods];
  const lanes = width === undefined ? undefined : createLanes(width);
  const { watchSeconds = lanes === undefined ? undefined : turnSeconds } = options;
  const positions = new Map<string, string>();
  const spaces = discoveredNamespaces();
  const bundles = namedBundles(client, { keep: keptOf, reads: spaces.reads, pace, lanes });
  const absent = new Set<ReadKind>();

  /** A cluster is told from others by a namespace that nobody can make anew. */
  let clusterUid: string | undefined;
  const keep = (read: ReadKind, item: ApiItem): PackedObject => {
    if (item.kind === "Namespace" && item.metadata.name === "kube-system") clusterUid = textOf(item.metadata.uid);
    return keptOf(read, item);
  };

  async function follow(sink: OriginSink, signal: AbortSignal): Promise<void> {
    const { now = () => performance.now() } = options;
    const find = createDiscovery(client, now);
    // A turn is too short for a long list that streams.
    const streaming = { isRefused: lanes !== undefined };
    const heard = new Set(positions.keys());
    const waits = createFailureWaits(pace);
    const bell = createBell();
    signal.addEventListener("abort", bell.ring);
    let round = new AbortController();
    const hear = (part: string): void => {
      waits.answered(part);
      heard.add(part);
      bell.ring();
    };
    const toSpaces = spaces.listen(
      {
        whole(part, objects) {
          const isTaken = sink.whole(part, objects);
          hear(part);
          return isTaken;
        },
        changed: (part, changes) => sink.changed(part, changes),
        absent(part, reason) {
          const isHeld = sink.absent(part, reason);
          hear(part);
          return isHeld;
        },
        failed(part, reason) {
          waits.failed(part);
          sink.failed(part, reason);
        },
        followed(part) {
          sink.followed(part);
          waits.answered(part);
        },
      },
      () => round.abort(),
    );
    const listening = bundles.listen(toSpaces);
    const heardOf = async (kinds: readonly ReadKind[]): Promise<void> => {
      while (!signal.aborted && !kinds.every((kind) => heard.has(partOf(kind)))) await bell.next();
    };
    const followKind = (read: ReadKind, until: AbortSignal): Promise<void> => {
      const isRead = ({ metadata }: ApiItem): boolean =>
        read.isClusterScoped || read.only !== undefined || spaces.reads(metadata.namespace ?? "default");
      const isKept = (item: ApiItem): boolean => isRead(item) && read.isPassedOver?.(item) !== true;
      return followCollection(
        client,
        {
          part: partOf(read),
          find: async (stop, maxAgeMs) => {
            const found = await find(read, stop, maxAgeMs);
            if (found === undefined) absent.add(read);
            else absent.delete(read);
            return found;
          },
          keyOf: (item) => keyOf(read, item),
          isOfDefinition: isOfDefinition(read),
          keep: (item) => (isKept(item) ? keep(read, item) : undefined),
          streaming,
          positions,
          waits,
          pace,
          now,
          ...(pageSize === undefined ? {} : { pageSize }),
          ...(listSize === undefined ? {} : { listSize }),
          ...(quietMs === undefined ? {} : { quietMs }),
          ...(lanes === undefined ? {} : { lanes }),
          ...(watchSeconds === undefined ? {} : { watchSeconds }),
        },
        listening,
        until,
      );
    };

    const selecting = selectingKinds.map((kind) => followKind(kind, signal));
    await heardOf(selectingKinds);
    let naming: Promise<void> | undefined;
    while (!signal.aborted) {
      round = new AbortController();
      const until = AbortSignal.any([signal, round.signal]);
      const following = others.map((kind) => followKind(kind, until));
      // A slice names pods, which have to be there by then.
      await heardOf(others);
      naming ??= bundles.follow(sink, find, signal);
      if (!until.aborted) following.push(followKind(pods, until));
      await Promise.all(following);
      if (!round.signal.aborted) continue;
      // Another set of namespaces: everything in them is read anew.
      for (const part of [...others, pods].map(partOf)) {
        positions.delete(part);
        heard.delete(part);
      }
    }
    await Promise.all([...selecting, naming]);
  }

  return {
    about: { kind: "kubernetes", cluster },
    parts: [...kinds.map(partOf), namedBundlesPart],
    identity: () => (clusterUid ? `cluster ${clusterUid}` : undefined),
    absent: () => [...namesOf(absent, kinds), ...bundles.refused()],
    follow,
  };
}
