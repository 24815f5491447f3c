import { createHash } from "node:crypto";
import { byCodePoint, keyText } from "../config/diagnostic.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import type { CompiledResource } from "../snapshot/compiled.ts";
import { type ResourceType, typeUrlOf } from "../snapshot/resource-type.ts";
import { binaryForm } from "../xds/descriptors.ts";
import type { Resource } from "../xds/resource.ts";

/**
 * A resource as it is stored and sent. Encoded once: the generators keep the identity of what did not change, and so does
 * this.
 *
 * @param withBinary adds protobuf's binary form, which Connect and gRPC are served from
 */
export function encodeResource(
  type: ResourceType,
  resource: Resource,
  withBinary: boolean,
  memo: Memo,
): CompiledResource {
  // Classes may share a message that they owe to different objects, so the message alone is no key.
  const from = [...new Set(resource.from.map(keyText))].sort(byCodePoint);
  return memo([resource.json], `encode|${type}|${resource.name}|${withBinary}|${from.join()}`, () => {
    const text = `{"@type":"${typeUrlOf(type)}",${JSON.stringify(resource.json).slice(1)}`;
    const binary = withBinary ? binaryForm(type, resource) : undefined;
    return {
      name: resource.name,
      text,
      version: createHash("sha256").update(text).digest("hex"),
      from,
      ...(binary === undefined ? {} : { binary }),
    };
  });
}
