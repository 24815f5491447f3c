import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { AggregatedDiscoveryService } from "../../gen/envoy/service/discovery/v3/ads_pb.ts";
import type { DiscoveryRequest, DiscoveryResponseSchema } from "../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import {
  type RequestResources,
  type Resource,
  ResourceSchema,
  ResourceSource,
  type ResourcesSchema,
} from "../../gen/istio/mcp/v1alpha1/resource_pb.ts";
import { ServiceEntrySchema } from "../../gen/istio/networking/v1alpha3/service_entry_pb.ts";
import { createOutbox, type Outbox } from "../../lib/mcp/stream.ts";

type ResourcesInit = MessageInitShape<typeof ResourcesSchema>;
type DiscoveryInit = MessageInitShape<typeof DiscoveryResponseSchema>;

/** One stream as the source sees it. */
export interface SourceStream<Request, Response> {
  /** All that the sink has sent. */
  readonly requests: readonly Request[];
  push(response: Response): void;
  /** Resolves when the sink has sent so many requests. */
  until(count: number): Promise<void>;
}

export interface TestSource {
  readonly url: string;
  /** Streams of ResourceSource, the newest last. */
  readonly streams: readonly SourceStream<RequestResources, ResourcesInit>[];
  readonly xdsStreams: readonly SourceStream<DiscoveryRequest, DiscoveryInit>[];
  /** Resolves when so many streams were opened, of both protocols. */
  opened(count: number): Promise<void>;
  /** Breaks every connection. */
  cut(): void;
  close(): Promise<void>;
}

/** A source of configuration that speaks both protocols of MCP over HTTP/2, and pushes what a test tells it to. */
export async function startTestSource(port = 0): Promise<TestSource> {
  const streams: SourceStream<RequestResources, ResourcesInit>[] = [];
  const xdsStreams: SourceStream<DiscoveryRequest, DiscoveryInit>[] = [];
  const outboxes: Outbox<unknown>[] = [];
  const routes = (router: ConnectRouter) => {
    router.service(ResourceSource, {
      establishResourceStream: (requests) => answerWith(requests, streams, outboxes),
    });
    router.service(AggregatedDiscoveryService, {
      streamAggregatedResources: (requests) => answerWith(requests, xdsStreams, outboxes),
    });
  };
  const server: Http2Server = createServer(connectNodeAdapter({ routes }));
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const cut = () => {
    for (const outbox of outboxes.splice(0)) outbox.close();
    for (const session of sessions) session.destroy();
  };
  return {
    url: `http://127.0.0.1:${address.port}`,
    streams,
    xdsStreams,
    opened: (count) => eventually(() => streams.length + xdsStreams.length >= count),
    cut,
    close: () =>
      new Promise((resolve) => {
        cut();
        server.close(() => resolve());
      }),
  };
}

async function* answerWith<Request, Response>(
  requests: AsyncIterable<Request>,
  streams: SourceStream<Request, Response>[],
  outboxes: Outbox<unknown>[],
): AsyncGenerator<Response> {
  const outbox = createOutbox<Response>();
  outboxes.push(outbox);
  const seen: Request[] = [];
  streams.push({
    requests: seen,
    push: (response) => outbox.send(response),
    until: (count) => eventually(() => seen.length >= count),
  });
  const reading = (async () => {
    for await (const request of requests) seen.push(request);
  })().catch(() => {});
  yield* outbox;
  await reading;
}

export async function eventually(isSo: () => boolean, timeoutMs = 10_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error(`not after ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** A ServiceEntry for one host, as a resource. */
export function entry(name: string, host: string, version = "1"): Resource {
  const spec = create(ServiceEntrySchema, {
    hosts: [host],
    ports: [{ number: 80, protocol: "HTTP", name: "http" }],
    location: 1,
    resolution: 1,
    endpoints: [{ address: "10.0.0.1" }],
  });
  return create(ResourceSchema, { metadata: { name, version }, body: anyPack(ServiceEntrySchema, spec) });
}
