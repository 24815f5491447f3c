import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { ResourceSchema } from "../../gen/istio/mcp/v1alpha1/resource_pb.ts";
import { type ParsedObject, parseStream } from "../../lib/config/documents/parse.ts";
import { readConfig } from "../../lib/config/read-config.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { decodeResource } from "../../lib/mcp/decode.ts";
import { mcpKinds } from "../../lib/mcp/kinds.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import type { World } from "../../lib/mesh/world.ts";
import { generate } from "../../lib/xds/generate.ts";
import { loadCase } from "../conformance/load-case.ts";
import { casesOf } from "../conformance/suites.ts";

const tried = new Map<string, number>();

/** An object as it is when it has come over MCP. */
function overMcp(object: ParsedObject): object {
  const { origin: _origin, ...plain } = object;
  const { value } = readConfig(object, { unknownFields: "ignore" });
  const kind = mcpKinds.find((one) => one.kind === object.kind && one.group === value?.meta.group);
  if (value === undefined || kind === undefined) return plain;
  // What was read has protobuf's form of durations.
  const spec: JsonValue = JSON.parse(JSON.stringify(value.spec));
  const message = fromJson(kind.message, spec);
  const metadata = { name: `${value.meta.namespace}/${value.meta.name}` };
  const resource = create(ResourceSchema, { metadata, body: anyPack(kind.message, message) });
  const decoded = decodeResource(kind, resource, true);
  if (decoded.kind !== "decoded") throw new Error(decoded.reason);
  tried.set(kind.kind, (tried.get(kind.kind) ?? 0) + 1);
  // As its source is read: protobuf writes large numbers as texts, which a file may not.
  const arrived = readConfig({ ...object, spec: decoded.value.object.spec }, { unknownFields: "ignore" });
  return { ...plain, spec: arrived.value?.spec };
}

function answersIn(world: World) {
  const memo = createMemo();
  const mesh = buildMesh(world, memo).value;
  return world.proxies.map((proxy) => [proxy.id, generate(mesh, proxy, memo).value]);
}

describe("objects that come over MCP", () => {
  it.each(casesOf("v3").map(({ name, path }) => [name, path]))("mean in %s what their YAML means", (_name, path) => {
    const changed = loadCase(path, {
      change: (text) =>
        parseStream(text, { file: "input.yaml" })
          .value.map((object) => JSON.stringify(overMcp(object)))
          .join("\n---\n"),
    });
    expect(answersIn(changed)).toEqual(answersIn(loadCase(path)));
  });

  it("were of every kind that there are cases of", () => {
    const missing = mcpKinds.filter(({ kind }) => !tried.has(kind)).map(({ kind }) => kind);
    // Of the last there is no case.
    expect(missing).toEqual(["TrafficExtension"]);
  });
});
