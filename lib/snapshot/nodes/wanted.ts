/**
 * Records of nodes that have asked for a class, and have none: the front writes them, the compiler reads them. A record stands for all
 * nodes that the classifier does not tell apart.
 */
import { hashOf } from "../../base/blob.ts";
import {
  buildFor,
  buildOfSilence,
  type Classifier,
  labelsOf,
  type NodeClaims,
  namespaceOf,
  own,
  parseNodeId,
  project,
} from "../../base/classifier.ts";
import { buildMember } from "../../base/proxy-build.ts";

/** Records lie here, under whose they are and what they stand for. */
export const wantedPrefix = "wanted/";

/**
 * Lies beside the records where a front misses a blob, or found it damaged: the next compile then looks at every blob that is served, and
 * writes anew what is not as it should be. It holds the blob's hash, for people.
 */
export const missedBlobKey = `${wantedPrefix}missed-blob`;

/** How long a record counts; a node that still wants its class then asks again. */
export const wantedMs = 24 * 3_600_000;

/** Records that are compiled. */
export const maxWanted = 512;

/** So many may lie there until a compile has chosen: where all places are taken, a namespace that has few records may still write. */
export const maxWritten = 2 * maxWanted;

/** Whose a record is. */
export interface WantedOwner {
  /** Hash of the namespace; a record of an earlier version has none, and is by itself in the namespace of its subject. */
  readonly namespace: string;
  /** Hash of the subject that has proven itself, or `unproven`. */
  readonly subject: string;
}

/** The subject of all who have proven nothing. */
export const unproven = "anyone";

const ownerHash = (text: string): string => hashOf(text).slice(0, 16);

/** @param subject that was proven; undefined: nothing was */
export const wantedOwner = (namespace: string, subject: string | undefined): WantedOwner => ({
  namespace: ownerHash(namespace),
  subject: subject === undefined ? unproven : ownerHash(subject),
});

/** What the keys of an owner's records begin with. */
export const ownerPrefix = ({ namespace, subject }: WantedOwner): string => `${wantedPrefix}${namespace}-${subject}-`;

/** @param key below `wantedPrefix` */
export function ownerOf(key: string): WantedOwner {
  const [first = "", second = "", third] = key.slice(wantedPrefix.length).split("-");
  return third === undefined ? { namespace: first, subject: first } : { namespace: first, subject: second };
}

/** How many records each namespace has. */
export function countByNamespace(keys: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) {
    const { namespace } = ownerOf(key);
    counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  }
  return counts;
}

/** The namespace that has most records; of several the first by its hash. */
function largestOf(counts: ReadonlyMap<string, number>): string {
  let largest = "";
  for (const [namespace, count] of counts) {
    const most = counts.get(largest) ?? 0;
    if (count > most || (count === most && namespace < largest)) largest = namespace;
  }
  return largest;
}

/**
 * Records that are to go where there are more than have a place: first those of nodes that have proven nothing, then those of the namespace
 * that has most, the oldest first. A node that still wants its class asks again, and is the newest then.
 *
 * @param records the oldest first
 */
export function recordsToDrop<T extends { readonly key: string }>(records: readonly T[]): readonly T[] {
  let excess = records.length - maxWanted;
  if (excess <= 0) return [];
  const dropped = new Set(records.filter(({ key }) => ownerOf(key).subject === unproven).slice(0, excess));
  excess -= dropped.size;
  const left = records.filter((record) => !dropped.has(record));
  const queues = Map.groupBy(left, ({ key }) => ownerOf(key).namespace);
  const counts = countByNamespace(left.map(({ key }) => key));
  for (; excess > 0; excess -= 1) {
    const largest = largestOf(counts);
    const count = counts.get(largest) ?? 0;
    const queue = queues.get(largest) ?? [];
    const oldest = queue[queue.length - count];
    if (oldest !== undefined) dropped.add(oldest);
    counts.set(largest, count - 1);
  }
  return records.filter((record) => dropped.has(record));
}

/** An entry of `proxies` in `portolan.yaml`. */
export interface WantedProxy {
  readonly id: string;
  readonly wanted: true;
  readonly namespace: string;
  readonly cluster: string;
  readonly locality: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface WantedRecord {
  /** Hash of the projection: nodes that are alike have one. */
  readonly name: string;
  readonly namespace: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const maxRecordBytes = 4_096;

/** Addresses that no node has. */
const nowhere = { "4": "192.0.2.0", "6": "2001:db8::" } as const;

/**
 * The record of a node, reduced to what the classifier reads.
 *
 * @returns undefined for a node that says too little of itself, or so much that it is no small record
 */
export function wantedRecord(classifier: Classifier, claims: NodeClaims): WantedRecord | undefined {
  const projection = project(classifier, claims);
  const proxy = projection === undefined ? undefined : reduced(classifier, claims);
  if (proxy === undefined || project(classifier, claimsOf(proxy)) !== projection) return undefined;
  const bytes = new TextEncoder().encode(JSON.stringify(proxy));
  const { namespace } = proxy;
  return bytes.length > maxRecordBytes ? undefined : { name: hashOf(`${namespace} ${projection}`), namespace, bytes };
}

const claimsOf = ({ id, cluster, locality, namespace, labels, metadata }: WantedProxy): NodeClaims => ({
  id,
  cluster,
  locality,
  metadata: { NAMESPACE: namespace, LABELS: labels, ...metadata },
});

/** Metadata that attributes are read from, besides those that name a member themselves. */
const sources: Readonly<Record<string, string>> = {
  clusterId: "CLUSTER_ID",
  network: "NETWORK",
  interceptionMode: "INTERCEPTION_MODE",
  nodeName: "NODE_NAME",
};

function reduced(classifier: Classifier, claims: NodeClaims): WantedProxy | undefined {
  const said = parseNodeId(claims.id);
  if (said === undefined || (said.type !== "sidecar" && said.type !== "router")) return undefined;
  const { attributes } = classifier;
  const namespace = namespaceOf(claims, said);
  const reads = new Set(attributes);
  const listed = claims.metadata.INSTANCE_IPS;
  const addresses = typeof listed === "string" && listed !== "" ? listed.split(",") : [said.address];
  const shown = reads.has("address")
    ? addresses
    : [...new Set(addresses.map((address) => nowhere[address.includes(":") ? "6" : "4"]))];
  const name = reads.has("name") ? said.name : `wanted.${namespace}`;
  const { GENERATOR: generator } = claims.metadata;
  const build = buildFor(classifier, claims);
  const metadata = Object.fromEntries([
    ...(generator === undefined ? [] : [["GENERATOR", generator] as const]),
    ...(shown.length > 1 ? [["INSTANCE_IPS", shown.join(",")] as const] : []),
    ...(build === undefined || build === buildOfSilence(classifier) ? [] : [[buildMember, build] as const]),
    ...attributes.flatMap((attribute) => {
      const key = sources[attribute] ?? (attribute.startsWith("metadata:") ? attribute.slice("metadata:".length) : "");
      const value = own(claims.metadata, key);
      return value === undefined ? [] : [[key, value] as const];
    }),
    ...membersRead(attributes, "annotation:", "ANNOTATIONS", claims.metadata.ANNOTATIONS),
    ...membersRead(attributes, "proxyConfig:", "PROXY_CONFIG", claims.metadata.PROXY_CONFIG),
  ]);
  return {
    id: `${said.type}~${shown[0] ?? nowhere["4"]}~${name}~${said.dnsDomain}`,
    wanted: true,
    namespace,
    cluster: reads.has("cluster") ? claims.cluster : "",
    locality: reads.has("locality") ? claims.locality : "",
    labels: labelsRead(classifier, namespace, labelsOf(claims)),
    metadata,
  };
}

/** An object of the metadata with the members that attributes name; absent where the node has none. */
function membersRead(attributes: readonly string[], prefix: string, key: string, value: unknown) {
  if (typeof value !== "object" || value === null) return [];
  const names = new Set(attributes.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length)));
  return [[key, Object.fromEntries(Object.entries(value).filter(([name]) => names.has(name)))] as const];
}

/** The labels that are read in a namespace; all of them where nobody has asked yet what is read there. */
function labelsRead(
  { labels: read, defaults }: Classifier,
  namespace: string,
  labels: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const isKnown = Object.keys(defaults).some((key) => key.endsWith(`/${namespace}`));
  const keys = new Set([...(read["*"]?.keys ?? []), ...(own(read, namespace)?.keys ?? [])]);
  const entries = Object.entries(labels).flatMap(([key, value]) =>
    typeof value === "string" && (!isKnown || keys.has(key)) ? [[key, value] as const] : [],
  );
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
