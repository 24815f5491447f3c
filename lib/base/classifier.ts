/**
 * How a node becomes a class. The compiler writes the classifier, the front and the agents read it; it imports nothing but the like of it, so
 * that both sides of the store can share it.
 */
import { buildIn, type ProxyBuild } from "./proxy-build.ts";

/** What a request says of its node. Nothing in it is authenticated. */
export interface NodeClaims {
  /** `sidecar~10.0.0.5~web-0.default~default.svc.cluster.local`, or any text for a bare Envoy. */
  readonly id: string;
  readonly cluster: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** `region/zone/subzone`, "" when it says none. */
  readonly locality: string;
  /** By the list of its extensions; absent: it sent none. */
  readonly build?: ProxyBuild;
}

/** @see proto/portolan/v1/classifier.proto */
export interface Classifier {
  /** Attributes that are read of every node, sorted; the names are those of `attributeOf`. */
  readonly attributes: readonly string[];
  /** Label keys that are read, sorted, by namespace of the node; "*" for those read in every namespace. */
  readonly labels: Readonly<Record<string, LabelKeys>>;
  /** Projection (see `project`) → class id. */
  readonly classes: Readonly<Record<string, string>>;
  /** `<type>/<namespace>` → class of the nodes there whose projection nobody compiled. */
  readonly defaults: Readonly<Record<string, string>>;
}

export interface LabelKeys {
  readonly keys: readonly string[];
}

/** The four parts of Istio's node id. */
export interface NodeId {
  readonly type: string;
  readonly address: string;
  /** `podName.namespace`. */
  readonly name: string;
  /** `<namespace>.svc.cluster.local`. */
  readonly dnsDomain: string;
}

/** `region/zone/subzone` without empty parts at the end. */
export const localityText = (region = "", zone = "", subZone = ""): string =>
  // Looked at from its first slash on, a run of slashes costs no more than its length.
  `${region}/${zone}/${subZone}`.replace(/(?<!\/)\/+$/, "");

/** Reads Istio's node id; undefined for any other text, such as the free id of a bare Envoy. */
export function parseNodeId(id: string): NodeId | undefined {
  const [type, address, name, dnsDomain, ...more] = id.split("~");
  if (type === undefined || address === undefined || name === undefined || dnsDomain === undefined || more.length > 0) {
    return undefined;
  }
  return { type, address, name, dnsDomain };
}

/** Namespace whose configuration applies to a node: `NAMESPACE` of its metadata, else the first part of its DNS domain. */
export function namespaceOf(claims: NodeClaims, nodeId: NodeId): string {
  return textOf(claims.metadata.NAMESPACE) || (nodeId.dnsDomain.split(".")[0] ?? "");
}

/** What of a classifier says what is read of nodes. */
export type ClassifierReads = Pick<Classifier, "attributes" | "labels">;

/**
 * The projection of a node on what the classifier reads: two nodes with equal projections get equal answers.
 * A JSON list of the attributes' values, then of the labels' values, in the classifier's order; absent is null.
 *
 * @returns undefined when the node brings too little to be projected: no Istio node id, or no metadata
 */
export const project = (classifier: ClassifierReads, claims: NodeClaims): string | undefined =>
  projectorOf(classifier)(claims);

/** As `project`, for whoever projects many nodes: what the classifier reads is looked at once. */
export function projectorOf({ attributes, labels }: ClassifierReads): (claims: NodeClaims) => string | undefined {
  const ofAttributes = attributes.map(readerOf);
  const everywhere = labels["*"]?.keys ?? [];
  return (claims) => {
    const nodeId = parseNodeId(claims.id);
    if (nodeId === undefined || isEmpty(claims.metadata)) return undefined;
    const values: unknown[] = [];
    for (const read of ofAttributes) values.push(read(claims, nodeId));
    const ownLabels = labelsOf(claims);
    for (const key of everywhere) values.push(own(ownLabels, key) ?? null);
    for (const key of own(labels, namespaceOf(claims, nodeId))?.keys ?? []) values.push(own(ownLabels, key) ?? null);
    return JSON.stringify(values);
  };
}

function isEmpty(record: JsonRecord): boolean {
  for (const name in record) if (Object.hasOwn(record, name)) return false;
  return true;
}

/** What answers a node takes: those of its id's type (`sidecar`, `router`), or `grpc` for a program that speaks xDS itself. */
function typeOf({ metadata }: NodeClaims, nodeId: NodeId): string {
  return metadata.GENERATOR === "grpc" ? "grpc" : nodeId.type;
}

/** `LABELS` of a node's metadata. */
export function labelsOf(claims: NodeClaims): Readonly<Record<string, unknown>> {
  return recordOf(claims.metadata.LABELS);
}

/** Key of `Classifier.defaults` for a node; undefined without an Istio node id. */
export function defaultKey(claims: NodeClaims): string | undefined {
  const nodeId = parseNodeId(claims.id);
  return nodeId === undefined ? undefined : `${typeOf(claims, nodeId)}/${namespaceOf(claims, nodeId)}`;
}

/** Member of the metadata that names a node's service account. */
export const accountMember = "SERVICE_ACCOUNT";

/** Member of the metadata that names the cluster that a node runs in. */
export const clusterMember = "CLUSTER_ID";

/**
 * Key of the node index for a node of a service account: whoever has proven the account finds no node of another one by it. No
 * account's name has a slash.
 *
 * @param name `podName.namespace`
 */
export const accountKey = (serviceAccount: string, name: string): string => `${serviceAccount}/${name}`;

/** Whether a key of the node index is a pod's name: these have a letter, and neither what addresses nor what accounts have. */
export const isPodName = (key: string): boolean => /[A-Za-z]/.test(key) && !/[:/]/.test(key);

/** Attribute `build:<what a node counts as that does not say>`. */
const buildAttribute = "build";

/** Whose build a node is: its extensions show it, else its metadata says it. */
const buildOf = ({ build, metadata }: NodeClaims, silent: ProxyBuild): ProxyBuild =>
  build ?? buildIn(metadata) ?? silent;

/** What silence counts as is null: so it is for a front that does not know the attribute yet. */
const buildReader =
  (silent: ProxyBuild): AttributeReader =>
  (claims) => {
    const build = buildOf(claims, silent);
    return build === silent ? null : build;
  };

/**
 * Whose build a node is, as this classifier takes it.
 *
 * @returns undefined where builds are not told apart
 */
export function buildFor(classifier: Pick<Classifier, "attributes">, claims: NodeClaims): ProxyBuild | undefined {
  const silent = buildOfSilence(classifier);
  return silent === undefined ? undefined : buildOf(claims, silent);
}

/** What a node counts as that does not say whose build it is; undefined where builds are not told apart. */
export function buildOfSilence({ attributes }: Pick<Classifier, "attributes">): ProxyBuild | undefined {
  const attribute = attributes.find((one) => one.startsWith(`${buildAttribute}:`));
  if (attribute === undefined) return undefined;
  return attribute.endsWith(":istio") ? "istio" : "envoy";
}

/** Gives the value of one attribute, as it goes into the projection. */
type AttributeReader = (claims: NodeClaims, nodeId: NodeId) => unknown;

function readerOf(attribute: string): AttributeReader {
  const colon = attribute.indexOf(":");
  if (colon < 0) return readers.get(attribute) ?? nothing;
  const name = attribute.slice(colon + 1);
  switch (attribute.slice(0, colon)) {
    case buildAttribute:
      return buildReader(name === "istio" ? "istio" : "envoy");
    case "metadata":
      return ({ metadata }) => own(metadata, name) ?? null;
    case "annotation":
      return ({ metadata }) => own(recordOf(metadata.ANNOTATIONS), name) ?? null;
    case "proxyConfig":
      return ({ metadata }) => settingOf(metadata.PROXY_CONFIG, name);
    default:
      return nothing;
  }
}

/** What a classifier may name that this program does not know. */
const nothing: AttributeReader = () => null;

/** Attributes that go by one word. */
const readers: ReadonlyMap<string, AttributeReader> = new Map<string, AttributeReader>([
  ["type", typeOf],
  ["namespace", namespaceOf],
  ["dnsDomain", (_claims, nodeId) => nodeId.dnsDomain],
  ["clusterId", ({ metadata }) => textOf(metadata[clusterMember]) || "Kubernetes"],
  ["network", ({ metadata }) => textOf(metadata.NETWORK)],
  ["locality", ({ locality }) => locality],
  ["families", (claims, nodeId) => familiesOf(addressesOf(claims, nodeId))],
  ["address", (claims, nodeId) => addressesOf(claims, nodeId)[0] ?? nodeId.address],
  ["name", (_claims, nodeId) => nodeId.name],
  ["interceptionMode", ({ metadata }) => textOf(metadata.INTERCEPTION_MODE) || "REDIRECT"],
  ["nodeName", ({ metadata }) => textOf(metadata.NODE_NAME)],
  ["cluster", ({ cluster }) => cluster],
]);

/**
 * One setting of a node's ProxyConfig; false where it says none, null without a ProxyConfig. Where spans are sent to is the
 * business of bootstraps, and another address on each node.
 */
function settingOf(proxyConfig: unknown, name: string): unknown {
  if (proxyConfig === undefined) return null;
  const setting = own(recordOf(proxyConfig), name);
  if (setting === undefined) return false;
  if (name !== "tracing") return sorted(setting);
  const { customTags, enableIstioTags, maxPathTagLength, sampling } = recordOf(setting);
  return sorted({ customTags, enableIstioTags, maxPathTagLength, sampling });
}

/** The same value with the members of objects by name: an Envoy sends them in any order. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}

/** `INSTANCE_IPS` of the metadata, else the address of the node id. */
function addressesOf(claims: NodeClaims, nodeId: NodeId): readonly string[] {
  const listed = textOf(claims.metadata.INSTANCE_IPS);
  return listed === "" ? [nodeId.address] : listed.split(",");
}

/** `4`, `6`, or both in the order in which they come first: `46`, `64`. */
function familiesOf(addresses: readonly string[]): string {
  let families = "";
  for (const address of addresses) {
    const family = address.includes(":") ? "6" : "4";
    if (!families.includes(family)) families += family;
  }
  return families;
}

/** A text; "" for anything else that a node may have sent. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** A member that the object itself has: names come from requests, and `constructor` is one too. */
export function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** What a node has sent in place of an object: none, or a list, has no members. */
const recordOf = (value: unknown): JsonRecord => (isRecord(value) ? value : {});

export type JsonRecord = Readonly<Record<string, unknown>>;

/** Whether a parsed JSON value is an object. */
export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value);
