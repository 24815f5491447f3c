import { createHash } from "node:crypto";
import { byCodePoint, keyText } from "../config/diagnostic.ts";
import type { Memo } from "../mesh/memo.ts";
import type { CompiledResource } from "../snapshot/compiled.ts";
import { type ResourceType, typeUrlOf } from "../snapshot/resource-type.ts";
import type { Resource } from "../xds/resource.ts";

/**
 * A resource as it is stored and sent. Encoded once: the generators keep the identity of what did not change, and so does
 * this.
 */
export function encodeResource(type: ResourceType, resource: Resource, memo: Memo): CompiledResource {
  return memo([resource.json], `encode|${type}|${resource.name}`, () => {
    const text = `{"@type":"${typeUrlOf(type)}",${JSON.stringify(resource.json).slice(1)}`;
    return {
      name: resource.name,
      text,
      version: createHash("sha256").update(text).digest("hex"),
      from: resource.from.map(keyText).sort(byCodePoint),
    };
  });
}
