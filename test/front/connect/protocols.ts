import type { Registry } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { frontApp } from "../../../lib/front/app.ts";
import type { BinarySecrets } from "../../../lib/front/connect/calls.ts";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import { mountConnect } from "../../../lib/front/connect/mount.ts";
import type { Front } from "../../../lib/front/front.ts";
import { serveHttp } from "../../../lib/front/node-server.ts";

/** Those in which clients call a front. */
export const protocols = ["Connect in JSON", "Connect in binary", "gRPC-Web", "gRPC"] as const;

type Transports = Readonly<Record<(typeof protocols)[number], Transport>>;

/**
 * Serves a front over HTTP and over gRPC.
 *
 * @param registry of the messages in JSON that have others in them
 * @param secrets absent: no secrets are served
 */
export async function serveProtocols(
  front: Front,
  registry: Registry,
  secrets?: BinarySecrets,
): Promise<{ readonly transports: Transports; readonly close: () => Promise<void> }> {
  const app = frontApp(front);
  mountConnect(app, front, secrets);
  const http = await serveHttp(app, 0);
  const grpc = await serveGrpc(front, 0);
  return {
    transports: {
      "Connect in JSON": createConnectTransport({ baseUrl: http.url, jsonOptions: { registry } }),
      "Connect in binary": createConnectTransport({ baseUrl: http.url, useBinaryFormat: true }),
      "gRPC-Web": createGrpcWebTransport({ baseUrl: http.url }),
      gRPC: createGrpcTransport({ baseUrl: grpc.url }),
    },
    async close() {
      front.close();
      await http.close();
      await grpc.close();
    },
  };
}
