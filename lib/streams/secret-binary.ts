import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { SecretSchema } from "../../gen/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts";

/** The binary form of a secret in proto JSON. */
export function secretBinary(resource: object): Uint8Array {
  // Plain data is JSON already; its type is the message's.
  const { "@type": _type, ...json }: Record<string, JsonValue> = JSON.parse(JSON.stringify(resource));
  return toBinary(SecretSchema, fromJson(SecretSchema, json));
}
