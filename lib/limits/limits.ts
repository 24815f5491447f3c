/** What one request may cost, and what all of them may cost together, whichever way they come in. */
export type Limits = Readonly<Record<keyof typeof limits, number>>;

const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * The limits of every transport: REST v3 and v1, Connect, gRPC-Web, gRPC, webhooks, objects. The comments are the rows of
 * `docs/reference/limits.md`: of what, and after a semicolon what happens beyond the limit. Names end in their unit.
 */
export const limits = {
  /** Poll, as read and decompressed. Envoy's own have 60 to 77 KB. */
  pollBytes: 1 * MiB,
  /** Delta request. */
  deltaBytes: 4 * MiB,
  /** Certificate request. RSA with 4096 bits needs 1,700 bytes. */
  csrBytes: 64 * KiB,
  /** Compile request. */
  noticeBytes: 64 * KiB,
  /** AdmissionReview. */
  reviewBytes: 8 * MiB,
  /** Forge webhook. */
  deliveryBytes: 4 * MiB,
  /** Pushed source; YAML aliases count written out (422). */
  sourceBytes: 32 * MiB,
  /** Files of a pushed source. */
  sourceFiles: 20_000,
  /** Repository archive, compressed; 422, source unchanged. */
  archiveBytes: 64 * MiB,
  /** The same, decompressed. */
  archiveUnpackedBytes: 512 * MiB,
  /** Its pax records and long names. */
  archiveHeaderBytes: 32 * MiB,
  /** Its files, folders and links. */
  archiveEntries: 200_000,
  /** One request to a repository's host; 504. */
  fetchMs: 25_000,
  /** Labels of a pushed canary, as JSON; 422. */
  labelBytes: 4 * KiB,
  /** Objects or files of a source; 422, or `unreadable-source`. */
  sourceObjects: 1_000_000,
  /** Texts of a source in one compile; the same. */
  sourceTextBytes: 1024 * MiB,
  /** Stored source filled over HTTP, at least 4 KiB an object; run `portolan gc` or split it. */
  sourceStoredBytes: 8192 * MiB,
  /** Write to `/objects/`. */
  objectBytes: 8 * MiB,
  /** All bodies being read; the slowest gets no room. */
  bodiesBytes: 128 * MiB,
  /** Nesting; invalid. Protobuf's own readers stop here too. */
  depth: 100,

  /** Node id, cluster; invalid. */
  idBytes: 1 * KiB,
  /** Node without extensions, as JSON; invalid. */
  nodeBytes: 64 * KiB,
  /** Resource name, version, nonce, type URL; invalid. */
  nameBytes: 1 * KiB,
  /** Different names in a request; invalid. */
  names: 10_000,
  /** Resources that a delta request lists; invalid. */
  knownResources: 100_000,
  /** Path and query of v1; 414. */
  urlBytes: 4 * KiB,
  /** Headers of a request; 431, over HTTP/2 a reset. */
  headerBytes: 16 * KiB,

  /** Until headers are read; 408. */
  headersMs: 10_000,
  /** Until the request is read; 408, over HTTP/2 a reset. */
  requestMs: 30_000,
  /** HTTP/2 call, or a stream's unread write; reset. */
  callMs: 60_000,
  /** Connection without a request, or in its TLS handshake; closed. Longer than Envoy's pauses between polls. */
  idleMs: 65_000,
  /** HTTP/1.1 connection without traffic; closed. Longer than any poll is held. */
  stallMs: 120_000,
  /** Connections per server; closed. */
  connections: 8_192,
  /** Concurrent TLS handshakes of one address, gRPC and webhooks; closed. Others have the other half of the connections. */
  handshakes: 4_096,
  /** Concurrent calls per HTTP/2 connection; refused. */
  streams: 100,
  /** Concurrent HTTP/2 calls, health streams, reflection; refused. */
  calls: 1_024,
  /** Concurrent discovery streams; refused. */
  discoveryStreams: 8_192,
  /** Life of a discovery stream; ended, to authenticate again. */
  streamMs: 3_600_000,
  /** Between pings, and until the answer; closed. */
  keepAliveMs: 30_000,

  /** Answers in memory; polls are streamed in chunks, binary ones wait, others get no room. */
  answersBytes: 128 * MiB,
  /** Cache of poll answers; evicts the oldest. */
  sharedBytes: 16 * MiB,
  /** Cache of poll bodies; evicts. */
  knownPollBytes: 16 * MiB,
  /** Cache of verified tokens per issuer, one minute; evicts. */
  tokenBytes: 8 * MiB,
  /** Held polls, 4 KiB each and node; answered at once. */
  heldBytes: 64 * MiB,
  /** State of a discovery stream; gRPC status 8. 10,000 names with their versions take a fifth. */
  streamBytes: 16 * MiB,
  /** State of all streams; gRPC status 8. */
  watchedBytes: 512 * MiB,
  /** Unconfirmed answers; evicts. */
  refusalBytes: 4 * MiB,
  /** Since such a node's last request; evicts. */
  refusalMs: 900_000,
  /** Entries of `/refusals`, newest first. */
  refusals: 100,
  /** Versions of nodes, 100 resources each; evicts. */
  statusBytes: 32 * MiB,
  /** Nodes in `/status/nodes`; `more` counts the rest. */
  statusNodes: 10_000,
  /** Answer under `/api/`; 400. */
  apiBytes: 2 * MiB,
  /** Concurrent requests under `/api/`; no room. */
  apiCalls: 8,
  /** Old roots read at a time for deltas; waits. */
  olderRoots: 4,
  /** Cache of extension lists; evicts. An Envoy's list has 120 to 160 KB. */
  extensionBytes: 2 * MiB,
  /** URLs of `/cache_stats`; evicts. */
  countedUrlBytes: 4 * MiB,
} as const;
