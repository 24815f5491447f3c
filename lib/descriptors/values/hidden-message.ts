import type { JsonValue } from "@bufbuild/protobuf";
import { isMembers, type Members } from "./members.ts";

/** Key under which a message of an unknown type travels through the descriptors, in a Struct that they know. Nobody can have written it. */
let hidden: string | undefined;

/** Made when it is first asked for: a Worker has no random values before a request. */
function hiddenKey(): string {
  hidden ??= `portolan.opaque.${crypto.randomUUID()}`;
  return hidden;
}
const structUrl = "type.googleapis.com/google.protobuf.Struct";

/** An Any of an unknown type, as one that the descriptors take. */
export const hideMessage = (message: { [key: string]: JsonValue }): JsonValue => ({
  "@type": structUrl,
  value: { [hiddenKey()]: message },
});

/** The Any that `hideMessage` was given; undefined for any other. */
export function hiddenMessage(any: Members): JsonValue | undefined {
  const wrapper = any["@type"] === structUrl ? any.value : undefined;
  return isMembers(wrapper) ? wrapper[hiddenKey()] : undefined;
}
