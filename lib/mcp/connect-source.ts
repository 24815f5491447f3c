import type { Interceptor, Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { resourceStream } from "./resource-stream.ts";
import type { McpStream } from "./stream.ts";
import { xdsStream } from "./xds-stream.ts";

/** What a connection with TLS is made with. PEM texts. */
export interface SourceTls {
  /** Absent: the authorities that Node knows. */
  readonly authority?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly serverName?: string;
}

export interface SourceConnection {
  readonly protocol: "resources" | "xds";
  /** `host:port` */
  readonly authority: string;
  /** Absent: without TLS. */
  readonly tls?: SourceTls;
  /** Bearer token, asked for with every stream, because tokens rotate; absent: none is sent. */
  readonly token?: () => Promise<string>;
  /** Whether to ask ResourceSource for increments; true when absent. */
  readonly incremental?: boolean;
}

/** A large mesh's ServiceEntries in one answer; Istio took 4 MiB, and sources have outgrown that. */
const mostBytes = 256 * 2 ** 20;
/** How soon a connection that says nothing is asked whether it is there, and how long it has to answer. */
const pingMs = 15_000;
const answerPingMs = 10_000;

/** Streams to a source, each over the one connection that is kept. Node only: it takes HTTP/2 in both directions. */
export function connectSource(connection: SourceConnection): McpStream {
  const transport = transportTo(connection);
  return connection.protocol === "xds"
    ? xdsStream(transport)
    : resourceStream(transport, connection.incremental ?? true);
}

function transportTo({ authority, tls, token }: SourceConnection): Transport {
  const withToken: Interceptor = (next) => async (request) => {
    if (token !== undefined) request.header.set("authorization", `Bearer ${await token()}`);
    return next(request);
  };
  return createGrpcTransport({
    baseUrl: `${tls === undefined ? "http" : "https"}://${authority}`,
    readMaxBytes: mostBytes,
    pingIntervalMs: pingMs,
    pingTimeoutMs: answerPingMs,
    interceptors: [withToken],
    ...(tls === undefined ? {} : { nodeOptions: nodeTls(tls) }),
  });
}

function nodeTls({ authority, certificate, key, serverName }: SourceTls) {
  return {
    ...(authority === undefined ? {} : { ca: authority }),
    ...(certificate === undefined || key === undefined ? {} : { cert: certificate, key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  };
}
