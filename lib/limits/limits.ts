/** What one request may cost, and what all of them may cost together, whichever way they come in. */
export type Limits = Readonly<Record<keyof typeof limits, number>>;

const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * The limits of every transport: REST v3 and v1, Connect, gRPC-Web, gRPC, webhooks, objects. `docs/security.md` says what
 * happens at each; a test holds its table and these figures together. Names end in their unit; others count things.
 */
export const limits = {
  /** Body of a poll, as read and as decompressed. Envoy's own are 60 to 77 KB. */
  pollBytes: 1 * MiB,
  /** Body of a delta request, which names what its reader has. */
  deltaBytes: 4 * MiB,
  /** A request for a certificate. A signing request for RSA with 4096 bits has 1,700 bytes. */
  csrBytes: 64 * KiB,
  /** Body of a request to compile. */
  noticeBytes: 64 * KiB,
  /** Body of an AdmissionReview, which holds an object twice: API servers take 3 MiB. */
  reviewBytes: 8 * MiB,
  /** Body of a forge's webhook: pushes of thousands of commits. */
  deliveryBytes: 4 * MiB,
  /** Body of a pushed source. */
  sourceBytes: 32 * MiB,
  /** Files of a pushed source: each costs a file or an object of the store, however little is in it. */
  sourceFiles: 20_000,
  /** A repository's archive at a commit, compressed. */
  archiveBytes: 64 * MiB,
  /** The same, decompressed. */
  archiveUnpackedBytes: 512 * MiB,
  /** Its headers besides one for each entry: pax records and long names. 64 MiB of them take 3 seconds to parse. */
  archiveHeaderBytes: 32 * MiB,
  /** Files, folders and links in it. Its files of configuration are also bounded by `sourceFiles` and `sourceBytes`. */
  archiveEntries: 200_000,
  /** One request to a repository's host, to the last byte of its answer. */
  fetchMs: 25_000,
  /** Labels of the nodes that a pushed canary is for, as JSON. */
  labelBytes: 4 * KiB,
  /** Objects of a source that a collector fills; files of another one. */
  sourceObjects: 1_000_000,
  /** Texts of a source, as one compile reads it: those of its objects, or of its files. */
  sourceTextBytes: 1024 * MiB,
  /** What lies in the store of a source that is filled over HTTP, with what it held before; an object counts as 4 KiB at least. */
  sourceStoredBytes: 8192 * MiB,
  /** Body of an object under `/objects/`. */
  objectBytes: 8 * MiB,
  /** All bodies being read at a time. */
  bodiesBytes: 128 * MiB,
  /** Lists and objects in each other in a body. Protobuf's own readers stop here too. */
  depth: 100,

  /** Id of a node, and its cluster. */
  idBytes: 1 * KiB,
  /** All that is said of a node besides its list of extensions, as JSON. */
  nodeBytes: 64 * KiB,
  /** Name of a resource, a version, a nonce, a type URL. */
  nameBytes: 1 * KiB,
  /** Different names that one request may ask for. */
  names: 10_000,
  /** Resources that a delta request may say it has. */
  knownResources: 100_000,
  /** Path and query of a v1 request. */
  urlBytes: 4 * KiB,
  /** All headers of a request. */
  headerBytes: 16 * KiB,

  /** Until the headers of a request are there. */
  headersMs: 10_000,
  /** Until all of a request is there. */
  requestMs: 30_000,
  /** From the start of a gRPC call to the end of its answer. */
  callMs: 60_000,
  /** How long a connection without a request is kept. Longer than Envoy's pauses between polls. */
  idleMs: 65_000,
  /** How long a connection lives on which nothing moves. Longer than any poll is held. */
  stallMs: 120_000,
  /** Connections of each server. */
  connections: 8_192,
  /** Calls at a time on one HTTP/2 connection. */
  streams: 100,
  /** gRPC calls at a time on all connections. */
  calls: 1_024,
  /** Discovery streams at a time on all connections. */
  discoveryStreams: 8_192,
  /** How long one of them may go on: then its reader connects again, with a proof of who it is that is good by then. */
  streamMs: 3_600_000,
  /** How often a connection with such a stream is asked whether somebody is there, and how long it may take to answer. */
  keepAliveMs: 30_000,

  /** Answers that lie in memory whole until their readers have them. */
  answersBytes: 128 * MiB,
  /** Answers that are kept whole for others who ask for the same. */
  sharedBytes: 16 * MiB,
  /** Polls that are known again by their bytes. */
  knownPollBytes: 16 * MiB,
  /** Tokens that were verified lately, of each issuer. */
  tokenBytes: 8 * MiB,
  /** Polls that are held, 4 KiB each and what is remembered of their nodes; others are answered at once. */
  heldBytes: 64 * MiB,
  /** What a discovery stream remembers of its reader. 10,000 names with their versions take a fifth. */
  streamBytes: 16 * MiB,
  /** What all of them remember. */
  watchedBytes: 512 * MiB,
  /** What is remembered of answers that nodes have not confirmed. */
  refusalBytes: 4 * MiB,
  /** How long a node that asks no more is remembered for its refusals. */
  refusalMs: 900_000,
  /** Refusals that `/refusals` explains. */
  refusals: 100,
  /** What is remembered of the versions that nodes have. */
  statusBytes: 32 * MiB,
  /** Nodes in one answer of `/status/nodes`. */
  statusNodes: 10_000,
  /** An answer of the API that the console reads. */
  apiBytes: 2 * MiB,
  /** Requests to it that are answered at a time. */
  apiCalls: 8,
  /** Roots of long ago that delta requests name, read at a time: some megabytes each in a large mesh. */
  olderRoots: 4,
  /** Lists of extensions that are known again. Those of an Envoy take 120 to 160 KB. */
  extensionBytes: 2 * MiB,
  /** URLs that `/cache_stats` counts. */
  countedUrlBytes: 4 * MiB,
} as const;
