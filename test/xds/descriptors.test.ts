import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ClusterSchema } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { descriptorFiles } from "../../lib/descriptors/descriptor-files.ts";
import { canonicalMessage, messageOfType } from "../../lib/descriptors/messages.ts";
import { checkResource } from "../../lib/xds/descriptors.ts";

describe("the descriptors", () => {
  it("are those of every file that is generated for Envoy, and of filters that Istio's own proxy has", () => {
    const text = readFileSync(new URL("../../buf.gen.yaml", import.meta.url), "utf8");
    const listed = [...text.matchAll(/- \.cache\/proto\/[^/]+\/(\S+)\.proto/g)].map(([, file = ""]) => file);
    const ofIstio = ["istio/alpn/config", "istio/extensions/stats/config"];
    // In these a front answers istioctl, and no resource holds one.
    const ofAnswers = ["envoy/admin/v3/config_dump_shared", "envoy/service/status/v3/csds"];
    const ofResources = listed.filter((file) => !ofAnswers.includes(file));
    expect(descriptorFiles.map((file) => file.name).sort()).toEqual([...ofResources, ...ofIstio].sort());
  });

  it("know a type by its URL, whatever stands before the slash", () => {
    expect(messageOfType("type.googleapis.com/envoy.config.cluster.v3.Cluster")).toBe(ClusterSchema);
    expect(messageOfType("type.googleapis.com/example.Unknown")).toBeUndefined();
  });
});

describe("canonicalMessage", () => {
  it("writes either spelling of fields as the generators do, without defaults", () => {
    const written = { name: "c", connect_timeout: "1.5s", type: 3, lbPolicy: "ROUND_ROBIN", respectDnsTtl: false };
    expect(canonicalMessage(ClusterSchema, written)).toEqual({
      json: { name: "c", connectTimeout: "1.500s", type: "EDS" },
      unknownTypes: [],
    });
  });

  it("drops unknown fields, and gives the reason for a value that does not fit", () => {
    expect(canonicalMessage(ClusterSchema, { nmae: "c" })).toEqual({ json: {}, unknownTypes: [] });
    expect(canonicalMessage(ClusterSchema, { name: 7 })).toMatchObject({ error: expect.stringContaining("name") });
  });
});

describe("checkResource", () => {
  const resource = (json: object) => ({ name: "c", json, from: [] });

  it("takes what fits, also with a type that is not known", () => {
    const config = { "@type": "type.googleapis.com/example.Socket", field: 1 };
    const transportSocket = { name: "example", typedConfig: config };
    expect(checkResource("clusters", resource({ name: "c", transportSocket }))).toBeUndefined();
  });

  it("takes fields that are younger than the protos it was made from", () => {
    const manager = {
      "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
      statPrefix: "http",
      rds: { routeConfigName: "80", configSource: { ads: {} } },
      tracing: { noContextPropagation: true, operation: "%REQ(:PATH)%" },
    };
    const filterChains = [
      { filters: [{ name: "envoy.filters.network.http_connection_manager", typedConfig: manager }] },
    ];
    expect(checkResource("listeners", resource({ name: "l", filterChains }))).toBeUndefined();
  });

  it("names a field that does not exist", () => {
    const refused = checkResource("clusters", resource({ name: "c", conectTimeout: "1s" }));
    expect(refused).toMatchObject({ code: "resource-refused", message: expect.stringContaining("conectTimeout") });
  });
});
