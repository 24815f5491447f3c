/**
 * The blobs of a snapshot as plain data, in proto JSON. The messages, with their meaning, are in
 * proto/portolan/v1/{root,head}.proto; a test holds the two together.
 */
import type { Classifier } from "../base/classifier.ts";
import type { OfTypes, ShapeName } from "./resource-type.ts";

export interface Root {
  /** Of the root and of all that it names; absent in roots from before formats were numbered, which are 1 or 2. */
  readonly format?: number;
  readonly compiler: string;
  readonly sources: readonly RootSource[];
  /** Blobs of the type tables. */
  readonly tables: OfTypes<string>;
  readonly classes: string;
  readonly classifier: string;
  /** Every shard of the node index, wherever they are listed. */
  readonly nodes: readonly NodeShardRef[];
  /** Blob of the `NodeShardList` that lists them; absent where the root does so itself. */
  readonly nodeList?: string;
  readonly diagnostics: string;
  readonly legacy?: string;
  readonly statuses?: string;
  readonly secretGrants?: readonly SecretGrant[];
  /** Blob of the `Lookups` of its configuration; absent: it wants nothing. */
  readonly lookups?: string;
  /** Blob of the `TrustBundles` that its resources name; absent: none. */
  readonly trustBundles?: string;
  readonly standing?: string;
  /** Hash over the configuration alone; absent in roots of earlier versions. */
  readonly configuration?: string;
  /** Release of Istio whose behaviour the answers have; absent in roots of earlier versions. */
  readonly release?: string;
}

export interface SourceVersion {
  readonly name: string;
  readonly version: string;
}

export interface RootSource extends SourceVersion {
  /** The version whose configuration counts, "" for none; absent: that of `version`. */
  readonly configuration?: string;
}

/** Configuration that is held while services and endpoints are followed. */
export interface Configuration {
  /** As `Root.configuration`. */
  readonly version: string;
  /** Versions of the sources that it is read from, in their order. A source that is not named has none. */
  readonly sources: readonly SourceVersion[];
}

/** A root as its blob says it. */
export type StoredRoot = Omit<Root, "nodes"> & Partial<Pick<Root, "nodes">>;

/** Gateways of one namespace may be given a secret of another one. */
export interface SecretGrant {
  readonly from: string;
  readonly to: string;
  /** Absent: every secret of the namespace. */
  readonly name?: string;
}

/** What a resolver is to look up, to give, or has fetched; each list is sorted, and absent where it is empty. */
export interface Lookups {
  /** URLs of JSON Web Key Sets. */
  readonly jwksUris?: readonly string[];
  /** Issuers whose key sets are found by OpenID Connect discovery. */
  readonly issuers?: readonly string[];
  /** Hosts of ServiceEntries without addresses, as `namespace/host`. */
  readonly services?: readonly string[];
  /** Addresses that others have out of the ranges that such hosts are given theirs from. */
  readonly taken?: readonly string[];
  /** Modules of Wasm that it is to fetch. */
  readonly modules?: readonly WantedModule[];
  /** SHA-256 of modules that it has fetched: blobs, which stay as long as the root does. */
  readonly heldModules?: readonly string[];
}

/** As its URL, its hash and its credentials tell one from another. */
export interface WantedModule {
  readonly url: string;
  readonly sha256?: string;
  readonly pullSecret?: string;
  readonly always?: true;
}

export interface ClassTable {
  readonly classes: readonly ProxyClass[];
}

export interface ProxyClass extends Readonly<Record<ShapeName, Shape>> {
  readonly id: string;
  /** Names of the secrets that its resources name, sorted; absent where they name none. */
  readonly secrets?: readonly string[];
}

/** Indexes into the trees of the type's table. */
export type Shape = OfTypes<number>;

export interface TypeTable {
  /** Blobs of `PartList`s; of many, `ListRefs`. */
  readonly partLists: readonly ListRef[];
  /** Blobs of `TreeList`s; of many, `ListRefs`. */
  readonly treeLists: readonly ListRef[];
}

/** A table of an earlier version: its parts say nothing of their content, its trees say their versions. */
export interface WholeTypeTable {
  readonly parts: readonly PartRef[];
  readonly trees: readonly (TypeTree & { readonly version: string })[];
}

export interface ListRef {
  readonly hash: string;
  /** How many elements the list has, or the lists that it names have. */
  readonly count: number;
  /** Of a `ListRefs`, how many lists it names; absent: it has the elements itself. */
  readonly lists?: number;
}

/** Lists of a type table, in order. */
export interface ListRefs {
  readonly lists: readonly ListRef[];
}

export interface PartList {
  /** Blobs that long resources name; absent where there are none. */
  readonly hashes?: readonly string[];
  readonly parts: readonly (Part | ListedLong)[];
}

export interface TreeList {
  readonly trees: readonly TypeTree[];
}

/** A list of segments by its blob, or one segment itself. */
export type PartRef = { readonly list: string } | { readonly segment: SegmentRef };

export type Part = PartRef & {
  /** Hash of the names and versions of its resources. */
  readonly content: string;
};

/** A part that is one long resource. What is missing follows from the rest. */
export interface ListedLong {
  readonly long: {
    readonly name: string;
    readonly bodyBytes: number;
    readonly version: string;
    /** Numbers of the list's hashes. */
    readonly lists: readonly number[];
    readonly from: readonly number[];
  };
}

export interface SegmentList {
  readonly segments: readonly SegmentRef[];
}

export interface TypeTree {
  readonly parts: readonly number[];
}

export interface SegmentRef {
  readonly hash: string;
  readonly first: string;
  readonly last: string;
  readonly resources: number;
  readonly bodyOffset: number;
  readonly bodyBytes: number;
  /** Where the same resources lie in protobuf's binary form, if they do. */
  readonly binary?: BinaryRef;
  readonly long?: LongRef;
}

/** Where the text of a long resource lies: in runs, one after the other. */
export interface LongRef {
  readonly version: string;
  /** Blobs of `RunList`s; of many, `ListOfLists`s. */
  readonly lists: readonly string[];
  /** Blobs of `OriginList`s; of many, `ListOfLists`s. */
  readonly from: readonly string[];
}

/** Blobs of lists, which may be such lists themselves. */
export interface ListOfLists {
  readonly lists: readonly string[];
}

export interface RunList {
  /** Blobs of texts. */
  readonly runs: readonly string[];
  /** Blobs of the same in protobuf's binary form, as many. */
  readonly binaries?: readonly string[];
}

export interface OriginList {
  readonly from: readonly string[];
}

export interface BinaryRef {
  readonly hash: string;
  readonly bodyOffset: number;
}

export interface SegmentHeader {
  readonly resources: readonly ResourceEntry[];
}

export interface ResourceEntry {
  readonly name: string;
  readonly version: string;
  readonly bytes: number;
  readonly from: readonly string[];
}

export interface NodeShardRef {
  readonly hash: string;
  readonly first: string;
}

export interface NodeShardList {
  readonly shards: readonly NodeShardRef[];
}

/** Key to class id. */
export type ClassesByKey = Readonly<Record<string, string>>;

export interface NodeShard {
  /** Nodes whose cluster is not known: of roots up to format 4, which say of no node where it runs. */
  readonly classes?: ClassesByKey;
  /** By the id of the cluster that the nodes run in. */
  readonly clusters?: Readonly<Record<string, { readonly classes: ClassesByKey }>>;
}

export interface Head {
  readonly generation: number;
  readonly publication: string;
  readonly steps: readonly RolloutStage[];
  readonly canary?: Canary;
  readonly pin?: Pin;
  /** Root of the newest publish, where it is not the last step's. */
  readonly newest?: string;
  /** RFC 3339 like a step's; absent in a HEAD of an earlier version. */
  readonly at?: string;
  readonly cohorts?: readonly Cohort[];
  /** Absent in a HEAD of an earlier version. */
  readonly change?: ConfigurationChange;
  /** Of HEAD itself; absent: 1. */
  readonly format?: number;
  /** Over all of the above. */
  readonly signatures?: readonly HeadSignature[];
}

/**
 * The newest change of configuration. Configurations are named by `Root.configuration`, or by the root where it has none: then each root
 * is one of its own.
 */
export interface ConfigurationChange {
  /** Blob of the entry of the history. */
  readonly publication: string;
  /** What everybody is led to since then. */
  readonly served: string;
  /** That of the newest publish. */
  readonly newest: string;
}

/** One key's word for all else that HEAD says; `signHead` gives it. */
export interface HeadSignature {
  /** Id of the key. */
  readonly key: string;
  /** Ed25519, base64url. */
  readonly value: string;
}

export interface RolloutStage {
  readonly root: string;
  /** RFC 3339 in UTC with milliseconds. */
  readonly at: string;
  /** Blob of a `StageCondition`; absent: all nodes wait for the time. */
  readonly gate?: string;
}

/** Which nodes may enter a stage before its time: those with a CDS ACK of one of the versions. */
export interface StageCondition {
  readonly lists: readonly ConditionList[];
  /** `<shape>/<class id>` → index of the list; a class that is not named has all that it needs. */
  readonly classes: Readonly<Record<string, number>>;
}

export interface ConditionList {
  /** CDS versions with all clusters that the stage needs; none: all nodes wait for the time. */
  readonly versions: readonly string[];
}

/** A part of the nodes: by a hash of their ids, or by labels that they have all of. */
export interface Share {
  /** 0 to 100. */
  readonly percent: number;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Canary extends Share {
  readonly root: string;
  /** Absent: the root stays as it is, endpoints and all. */
  readonly configuration?: Configuration;
}

export interface Pin {
  readonly by: string;
  readonly why: string;
  readonly since: string;
  readonly until?: string;
  /** Absent: the root stays as it is, endpoints and all. */
  readonly configuration?: Configuration;
}

export interface Cohort {
  readonly shares: readonly Share[];
  readonly steps: readonly RolloutStage[];
  /** Whether its nodes are on the way to what everybody gets, and not to the canary. */
  readonly leaving?: boolean;
}

export interface Publication {
  readonly generation: number;
  readonly root: string;
  readonly parent: string;
  readonly at: string;
  readonly reason: PublicationReason;
  readonly held?: boolean;
  readonly by?: string;
  readonly why?: string;
  readonly canary?: Canary;
  /** The configuration that this entry brought, named as in `ConfigurationChange`; absent: it brought none. */
  readonly configuration?: string;
  /** Blob of the newest entry before this one that brought a configuration; absent where none is known. */
  readonly changed?: string;
  /** Of a rollback, the blob of the entry that it leads back to, or that entry's configuration; absent in earlier versions. */
  readonly back?: string;
  /** A root that was recorded beside one that is served, and is not served. */
  readonly recorded?: string;
}

export type PublicationReason =
  | "publish"
  | "rollback"
  | "canary"
  | "promote"
  | "abort"
  | "unpin"
  | "import"
  | "collect"
  | "recover"
  | "sign";

export type { Classifier };
