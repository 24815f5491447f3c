import { type DescFile, type DescService, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ConnectRouterOptions, createConnectRouter } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as EarlierReflection } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import type { Limits } from "../../limits/limits.ts";
import { shown } from "../excess.ts";
import { readOptions } from "./calls.ts";

type Reply = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;

/**
 * What grpcurl and its like ask: which services there are, and what their messages look like. Under the name that the protocol has
 * now, and the one that older tools know.
 *
 * @param services besides those of reflection itself
 * @see https://github.com/grpc/grpc/blob/master/doc/server-reflection.md
 */
export function reflectionHandlers(
  services: readonly DescService[],
  { nameBytes }: Limits,
  options: Pick<ConnectRouterOptions, "acceptCompression">,
): readonly UniversalHandler[] {
  const router = createConnectRouter({
    ...options,
    connect: false,
    grpcWeb: false,
    readMaxBytes: 4 * nameBytes,
    binaryOptions: readOptions,
  });
  const descriptors = describe([...services, ServerReflection, EarlierReflection]);
  async function* answers(requests: AsyncIterable<ServerReflectionRequest>) {
    const sent = new Set<DescFile>();
    for await (const request of requests) {
      yield { validHost: request.host, originalRequest: request, messageResponse: replyTo(descriptors, request, sent) };
    }
  }
  const { input, output } = ServerReflection.method.serverReflectionInfo;
  for (const { method } of [ServerReflection, EarlierReflection])
    router.rpc({ ...method.serverReflectionInfo, input, output }, answers);
  return router.handlers;
}

/** Files by all that they may be asked for by. */
interface Descriptors {
  readonly services: readonly string[];
  readonly byName: ReadonlyMap<string, DescFile>;
  readonly bySymbol: ReadonlyMap<string, DescFile>;
  /** Numbers of extensions by the message that they extend, with their files. */
  readonly extensions: ReadonlyMap<string, ReadonlyMap<number, DescFile>>;
}

function describe(services: readonly DescService[]): Descriptors {
  const byName = new Map<string, DescFile>();
  const bySymbol = new Map<string, DescFile>();
  const extensions = new Map<string, Map<number, DescFile>>();
  for (const file of withDependencies(services.map((service) => service.file))) {
    byName.set(file.proto.name, file);
    for (const type of nestedTypes(file)) {
      bySymbol.set(type.typeName, file);
      if (type.kind === "service") for (const { name } of type.methods) bySymbol.set(`${type.typeName}.${name}`, file);
      if (type.kind !== "extension") continue;
      const known = extensions.get(type.extendee.typeName) ?? new Map<number, DescFile>();
      extensions.set(type.extendee.typeName, known.set(type.number, file));
    }
  }
  return { services: [...new Set(services.map(({ typeName }) => typeName))].sort(), byName, bySymbol, extensions };
}

/** Those first that others import. */
function withDependencies(files: readonly DescFile[], seen = new Set<DescFile>()): ReadonlySet<DescFile> {
  for (const file of files) {
    if (seen.has(file)) continue;
    withDependencies(file.dependencies, seen);
    seen.add(file);
  }
  return seen;
}

/** @param sent to this caller before: he keeps them */
function replyTo(known: Descriptors, { messageRequest: asked }: ServerReflectionRequest, sent: Set<DescFile>): Reply {
  switch (asked.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: known.services.map((name) => ({ name })) } };
    case "fileByFilename":
      return fileReply(known.byName.get(asked.value), asked.value, sent);
    case "fileContainingSymbol":
      return fileReply(known.bySymbol.get(asked.value), asked.value, sent);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = asked.value;
      const file = known.extensions.get(containingType)?.get(extensionNumber);
      return fileReply(file, `${containingType} ${extensionNumber}`, sent);
    }
    case "allExtensionNumbersOfType": {
      if (!known.bySymbol.has(asked.value)) return notThere(asked.value);
      const extensionNumber = [...(known.extensions.get(asked.value)?.keys() ?? [])];
      return { case: "allExtensionNumbersResponse", value: { baseTypeName: asked.value, extensionNumber } };
    }
    default:
      return { case: "errorResponse", value: { errorCode: Code.InvalidArgument, errorMessage: "nothing was asked" } };
  }
}

/** A file, before it what it imports and was not sent yet. */
function fileReply(file: DescFile | undefined, name: string, sent: Set<DescFile>): Reply {
  if (file === undefined) return notThere(name);
  const files = [...withDependencies([file])].filter((one) => one === file || !sent.has(one));
  for (const one of files) sent.add(one);
  const fileDescriptorProto = files.reverse().map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

const notThere = (name: string): Reply => ({
  case: "errorResponse",
  value: { errorCode: Code.NotFound, errorMessage: `there is no ${shown(name)} here` },
});
