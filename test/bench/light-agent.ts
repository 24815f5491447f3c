/**
 * What an agent does when it starts, with as little work of its own as possible: a connection over TLS, a certificate for a signing request,
 * a delta stream with clusters, endpoints, listeners and routes, each confirmed. Thousands of them fit into one process.
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
} from "../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import { IstioCertificateRequestSchema } from "../../gen/istio/auth/ca_pb.ts";
import { typeUrlOf } from "../../lib/snapshot/resource-type.ts";

const types = ["clusters", "endpoints", "listeners", "routes"] as const;
type Type = (typeof types)[number];

/** What an agent has, by type: names and their versions. */
export type Held = Readonly<Record<Type, Readonly<Record<string, string>>>>;

export interface LightAgentOptions {
  readonly url: string;
  /** Roots that the server's certificate is held against, PEM. */
  readonly roots: string;
  readonly token: string;
  readonly csr: string;
  readonly node: { readonly id: string; readonly metadata: Readonly<Record<string, string | Record<string, string>>> };
  /** What it had before its connection ended; absent: nothing, and it is given everything. */
  readonly held?: Held;
  /** What it asks for by name; the names of `held` when absent. */
  readonly names?: Held;
  /** Whether its answers are read, so that `held` of the result is known; else they are counted alone. */
  readonly reads?: boolean;
}

export interface Connected {
  readonly held: Held;
  readonly certificateMs: number;
  readonly bytes: number;
  close(): void;
}

const framed = (message: Uint8Array): Buffer => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
};

/** @throws Error where the server refuses anything */
export async function startLightAgent(options: LightAgentOptions): Promise<Connected> {
  const startMs = performance.now();
  const session = connect(options.url, { ca: options.roots, servername: "istiod.istio-system.svc" });
  const broken = new Promise<never>((_, reject) => {
    session.on("error", reject);
    session.on("close", () => reject(new Error("the connection was closed")));
  });
  // It may break after all is done.
  broken.catch(() => {});
  try {
    const whole = Promise.race([broken, begin(session, options, startMs)]);
    return await whole;
  } catch (cause) {
    session.destroy();
    throw cause;
  }
}

async function begin(session: ClientHttp2Session, options: LightAgentOptions, startMs: number): Promise<Connected> {
  await new Promise<void>((resolve) => session.once("connect", () => resolve()));
  const { csr } = options;
  const body = toBinary(IstioCertificateRequestSchema, create(IstioCertificateRequestSchema, { csr }));
  const call = open(session, options, "istio.v1.auth.IstioCertificateService/CreateCertificate");
  call.end(framed(body));
  let status = "";
  call.on("trailers", (trailers) => {
    status = String(trailers["grpc-status"] ?? "");
  });
  call.on("response", (headers) => {
    status = String(headers["grpc-status"] ?? status);
  });
  for await (const _ of call);
  if (status !== "0") throw new Error(`CreateCertificate ended with grpc-status ${status}`);
  const certificateMs = performance.now() - startMs;
  const { held, bytes } = await discover(session, options);
  return { held, bytes, certificateMs, close: () => session.destroy() };
}

const open = (session: ClientHttp2Session, { token }: LightAgentOptions, method: string): ClientHttp2Stream =>
  session.request({
    ":method": "POST",
    ":path": `/${method}`,
    "content-type": "application/grpc",
    te: "trailers",
    authorization: `Bearer ${token}`,
    clusterid: "Kubernetes",
  });

/** Asks for one type after the other, as an Envoy does that waits for each, and ends when the last was answered or is known to be as it was. */
async function discover(session: ClientHttp2Session, options: LightAgentOptions) {
  const { node, held: before, reads = false } = options;
  const stream = open(
    session,
    options,
    "envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources",
  );
  const held: Record<Type, Readonly<Record<string, string>>> = {
    clusters: {},
    endpoints: {},
    listeners: {},
    routes: {},
  };
  const ask = (type: Type, names: readonly string[], more: object = {}) => {
    // All but one: so there is an answer to each request.
    const [, ...known] = Object.entries(before?.[type] ?? {});
    const initialResourceVersions = Object.fromEntries(known);
    const request = { node, typeUrl: typeUrlOf(type), resourceNamesSubscribe: [...names], initialResourceVersions };
    const message = create(DeltaDiscoveryRequestSchema, { ...request, ...more });
    stream.write(framed(toBinary(DeltaDiscoveryRequestSchema, message)));
  };
  let bytes = 0;
  const frames = framesOf(stream, (size) => {
    bytes += size;
  });
  const namesOf = (type: Type): readonly string[] => {
    if (type === "clusters" || type === "listeners") return ["*"];
    return Object.keys((options.names ?? before)?.[type] ?? {});
  };
  let wanted: Partial<Record<Type, readonly string[]>> = {};
  for (const type of types) {
    ask(type, wanted[type] ?? namesOf(type));
    const frame = await frames.next();
    if (frame === undefined) throw new Error(`the stream ended before ${type} were answered`);
    const { typeUrl, nonce } = scanned(frame);
    if (typeUrl !== typeUrlOf(type)) throw new Error(`${typeUrl} was answered, and not ${type}`);
    if (reads) {
      const { resources } = fromBinary(DeltaDiscoveryResponseSchema, frame);
      held[type] = Object.fromEntries(resources.map(({ name, version }) => [name, version]));
      wanted = { ...wanted, ...mentionedIn(type, frame, Object.keys(held[type])) };
    } else held[type] = before?.[type] ?? {};
    ask(type, [], { responseNonce: nonce, initialResourceVersions: {}, node: undefined });
  }
  return { held, bytes };
}

/** Names that clusters and listeners make an Envoy ask for, as far as they stand in the bytes. */
function mentionedIn(
  type: Type,
  frame: Uint8Array,
  names: readonly string[],
): Partial<Record<Type, readonly string[]>> {
  if (type === "clusters") return { endpoints: names.filter((name) => name.startsWith("outbound|")) };
  if (type !== "listeners") return {};
  const text = Buffer.from(frame).toString("latin1");
  return { routes: ["80", "9000"].filter((name) => text.includes(name)) };
}

/** The fields of a DeltaDiscoveryResponse that have to be known of each; resources are passed over. */
function scanned(frame: Uint8Array) {
  let [typeUrl, nonce] = ["", ""];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = frame[at] ?? 0;
      at += 1;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  while (at < frame.length) {
    const field = varint() >>> 3;
    const length = varint();
    const value = frame.subarray(at, at + length);
    at += length;
    if (field === 4) typeUrl = Buffer.from(value).toString();
    else if (field === 5) nonce = Buffer.from(value).toString();
  }
  return { typeUrl, nonce };
}

/** The messages of a stream, one by one; undefined at its end. */
function framesOf(stream: ClientHttp2Stream, counted: (bytes: number) => void) {
  const ready: Uint8Array[] = [];
  let chunks: Buffer[] = [];
  let length = 0;
  let hasEnded = false;
  let wake = () => {};
  stream.on("error", () => {});
  stream.on("close", () => {
    hasEnded = true;
    wake();
  });
  stream.on("data", (chunk: Buffer) => {
    counted(chunk.length);
    chunks.push(chunk);
    length += chunk.length;
    while (length >= 5) {
      if ((chunks[0]?.length ?? 0) < 5) chunks = [Buffer.concat(chunks)];
      const size = 5 + (chunks[0]?.readUInt32BE(1) ?? 0);
      if (length < size) return;
      const all = Buffer.concat(chunks);
      ready.push(all.subarray(5, size));
      chunks = [all.subarray(size)];
      length -= size;
    }
    wake();
  });
  return {
    async next(): Promise<Uint8Array | undefined> {
      while (ready.length === 0 && !hasEnded)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      return ready.shift();
    },
  };
}
