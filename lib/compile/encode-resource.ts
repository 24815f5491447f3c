import { createHash } from "node:crypto";
import { byCodePoint, keyText } from "../config/diagnostic.ts";
import type { Memo } from "../mesh/memo/memo.ts";
import { step } from "../mesh/memo/step.ts";
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
  { json, name, from }: Resource,
  withBinary: boolean,
  memo: Memo,
): CompiledResource {
  return encoded(memo, { type, json, name, withBinary, from: [...new Set(from.map(keyText))].sort(byCodePoint) });
}

interface EncodeInputs {
  readonly type: ResourceType;
  readonly json: Resource["json"];
  readonly name: string;
  readonly withBinary: boolean;
  /** Classes may share a message that they owe to different objects, so the message alone is no key. */
  readonly from: readonly string[];
}

const encoded = step(
  "encoded resource",
  { type: "value", json: "identity", name: "value", withBinary: "value", from: "value" },
  ({ type, json, name, withBinary, from }: EncodeInputs): CompiledResource => {
    const text = `{"@type":"${typeUrlOf(type)}",${JSON.stringify(json).slice(1)}`;
    const binary = withBinary ? binaryForm(type, { json }) : undefined;
    return {
      name,
      text,
      version: createHash("sha256").update(text).digest("hex"),
      from,
      ...(binary === undefined ? {} : { binary }),
    };
  },
);
