import { create, createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, describe, expect, it } from "vitest";
import {
  ExtensionRequestSchema as ExtensionSchema,
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import {
  ServerReflection as EarlierReflection,
  type ServerReflectionResponse as EarlierResponse,
} from "../../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { authenticateBy } from "../../../lib/front/auth/authentication.ts";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import type { FrontOptions } from "../../../lib/front/front.ts";
import { testFront } from "../fixtures.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

type Question = ServerReflectionRequest["messageRequest"];
type Reply = (ServerReflectionResponse | EarlierResponse)["messageResponse"];

async function serving(options: Partial<FrontOptions> = {}) {
  const { front } = testFront(options);
  const server = await serveGrpc(front, 0);
  closing.push(server.close, front.close);
  const transport = createGrpcTransport({ baseUrl: server.url });
  return async (service: typeof ServerReflection | typeof EarlierReflection, ...asked: readonly Question[]) => {
    const questions = async function* () {
      for (const messageRequest of asked) yield { messageRequest };
    };
    // The messages of both are the same.
    const client = createClient(service, transport);
    const replies: Reply[] = [];
    for await (const { messageResponse } of client.serverReflectionInfo(questions())) replies.push(messageResponse);
    return replies;
  };
}

const filesOf = (reply: Reply | undefined) =>
  reply?.case === "fileDescriptorResponse"
    ? reply.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes))
    : [];

const symbol = (value: string): Question => ({ case: "fileContainingSymbol", value });

describe("gRPC's reflection", () => {
  it.each([ServerReflection, EarlierReflection])("lists what is served, $typeName", async (service) => {
    const ask = await serving();
    const [reply] = await ask(service, { case: "listServices", value: "" });
    expect(reply?.case === "listServicesResponse" && reply.value.service.map(({ name }) => name)).toEqual([
      "envoy.service.cluster.v3.ClusterDiscoveryService",
      "envoy.service.discovery.v3.AggregatedDiscoveryService",
      "envoy.service.endpoint.v3.EndpointDiscoveryService",
      "envoy.service.extension.v3.ExtensionConfigDiscoveryService",
      "envoy.service.listener.v3.ListenerDiscoveryService",
      "envoy.service.route.v3.RouteDiscoveryService",
      "envoy.service.secret.v3.SecretDiscoveryService",
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
      "portolan.v1.SnapshotService",
    ]);
  });

  it("gives the file of a service with all that it imports, so that calls can be made from it alone", async () => {
    const ask = await serving();
    const [reply] = await ask(ServerReflection, symbol("envoy.service.discovery.v3.AggregatedDiscoveryService"));
    const file = filesOf(reply);
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: file.toReversed() }));
    const service = registry.getService("envoy.service.discovery.v3.AggregatedDiscoveryService");
    expect(service?.methods.map(({ name }) => name)).toContain("DeltaAggregatedResources");
    expect(file[0]?.name).toBe("envoy/service/discovery/v3/ads.proto");
  });

  it("finds files by name, message and method, sends a file's imports once, and says what there is not", async () => {
    const ask = await serving();
    const replies = await ask(
      ServerReflection,
      symbol("envoy.service.discovery.v3.DeltaDiscoveryRequest"),
      symbol("envoy.service.discovery.v3.AggregatedDiscoveryService.StreamAggregatedResources"),
      { case: "fileByFilename", value: "google/protobuf/any.proto" },
      symbol("shop.Catalog"),
      { case: "allExtensionNumbersOfType", value: "envoy.service.discovery.v3.DiscoveryRequest" },
      {
        case: "fileContainingExtension",
        value: create(ExtensionSchema, { containingType: "a.B", extensionNumber: 1 }),
      },
    );
    expect(
      replies.map((reply) =>
        filesOf(reply)
          .map(({ name }) => name.split("/").at(-1))
          .slice(0, 2),
      ),
    ).toEqual([["discovery.proto", expect.any(String)], ["ads.proto"], ["any.proto"], [], [], []]);
    expect(replies.map(({ case: kind }) => kind).slice(3)).toEqual([
      "errorResponse",
      "allExtensionNumbersResponse",
      "errorResponse",
    ]);
  });

  it("is for those who may read", async () => {
    const ask = await serving({ authentication: authenticateBy("nobody", []) });
    await expect(ask(ServerReflection, { case: "listServices", value: "" })).rejects.toThrow("unauthenticated");
  });
});
