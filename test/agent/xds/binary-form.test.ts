import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { ClusterSchema } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { RawBufferSchema } from "../../../gen/envoy/extensions/transport_sockets/raw_buffer/v3/raw_buffer_pb.ts";
import { TypedStructSchema } from "../../../gen/xds/type/v3/typed_struct_pb.ts";
import { binaryForm } from "../../../lib/agent/xds/binary-form.ts";

const type = (name: string) => `type.googleapis.com/${name}`;
const withSocket = (typedConfig: object) => ({
  "@type": type("envoy.config.cluster.v3.Cluster"),
  name: "a",
  connectTimeout: "1s",
  transportSocket: { name: "socket", typedConfig },
});

function socketOf(json: object) {
  const form = binaryForm("clusters", { ...json });
  if ("problem" in form) throw new Error(form.problem);
  const { transportSocket, name } = fromBinary(ClusterSchema, form.binary);
  const { configType } = transportSocket ?? {};
  if (configType?.case !== "typedConfig") throw new Error("it has no socket");
  return { name, any: configType.value };
}

describe("the binary form of a resource", () => {
  it("has extensions of known types as their messages", () => {
    const { name, any } = socketOf(withSocket({ "@type": type(RawBufferSchema.typeName) }));
    expect([name, anyUnpack(any, RawBufferSchema)?.$typeName]).toEqual(["a", RawBufferSchema.typeName]);
  });

  it.each([
    ["of a type that this agent does not know", "example.v9.Socket", { inner: { "@type": type("x.Y"), n: 1 } }],
    ["with a field that this agent does not know", RawBufferSchema.typeName, { brandNew: true }],
  ])("carries an extension %s to Envoy whole", (_what, of, fields) => {
    const { any } = socketOf(withSocket({ "@type": type(of), ...fields }));
    const struct = anyUnpack(any, TypedStructSchema);
    expect([struct?.typeUrl, struct?.value]).toEqual([type(of), fields]);
  });

  it("does not exist for a resource with a field of its own that this agent does not know: none is dropped", () => {
    expect(binaryForm("clusters", { name: "a", brandNew: true })).toEqual({
      problem: expect.stringContaining("brandNew"),
    });
  });
});
