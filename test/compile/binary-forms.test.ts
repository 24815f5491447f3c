import { createRegistry, fromBinary, toJson } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ClusterSchema } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { ListenerSchema } from "../../gen/envoy/config/listener/v3/listener_pb.ts";
import { RouteConfigurationSchema } from "../../gen/envoy/config/route/v3/route_pb.ts";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { descriptorFiles } from "../../lib/descriptors/descriptor-files.ts";
import { resourcesIn } from "../../lib/snapshot/compiled.ts";

const schemas = { clusters: ClusterSchema, listeners: ListenerSchema, routes: RouteConfigurationSchema } as const;
const samples = new URL("../../samples/bookshop", import.meta.url).pathname;

describe("binary forms", () => {
  it("say the same as the texts beside them", async () => {
    const files = await readFolder(samples);
    const { value } = createFileCompiler({ ...defaultWorldOptions, binaryForms: true })(files, []);
    const registry = createRegistry(...descriptorFiles);
    for (const { poll } of value.classes) {
      for (const type of ["clusters", "listeners", "routes"] as const) {
        for (const { name, text, binary } of resourcesIn(poll[type])) {
          const { "@type": _type, ...json } = JSON.parse(text);
          const schema = schemas[type];
          expect([name, toJson(schema, fromBinary(schema, binary ?? new Uint8Array()), { registry })]).toEqual([
            name,
            json,
          ]);
        }
      }
    }
  });

  it("are not there unless they are asked for, and change neither text nor version", async () => {
    const files = await readFolder(samples);
    const plain = createFileCompiler(defaultWorldOptions)(files, []).value;
    const both = createFileCompiler({ ...defaultWorldOptions, binaryForms: true })(files, []).value;
    const [first] = plain.classes;
    expect(resourcesIn(first?.poll.clusters ?? []).some(({ binary }) => binary !== undefined)).toBe(false);
    const versions = (world: typeof plain) =>
      world.classes.map(({ poll }) => resourcesIn(poll.clusters).map(({ version }) => version));
    expect(versions(both)).toEqual(versions(plain));
  });
});
