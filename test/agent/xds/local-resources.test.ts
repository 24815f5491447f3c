import { fromBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ClusterSchema } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { ListenerSchema } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import { identityCluster } from "../../../lib/agent/bootstrap.ts";
import { createOfferMaker, type ResourceTexts } from "../../../lib/agent/xds/local-resources.ts";
import type { LocalResource } from "../../../lib/agent/xds/offer.ts";
import { type CoreType, coreTypes, typeUrlOf } from "../../../lib/snapshot/resource-type.ts";

const ads = { ads: {}, resourceApiVersion: "V3" };
const eds = (name: string) => ({ name, type: "EDS", edsClusterConfig: { edsConfig: ads } });
const hcm = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const listener = (name: string, routeConfigName: string) => ({
  name,
  filterChains: [
    {
      filters: [
        {
          name: "http",
          typedConfig: { "@type": hcm, statPrefix: "x", rds: { configSource: ads, routeConfigName } },
        },
      ],
    },
  ],
});

type Objects = Partial<Readonly<Record<CoreType, readonly (object & { readonly name: string })[]>>>;

const textsOf = (objects: Objects): ResourceTexts => {
  const of = (type: CoreType) =>
    new Map(
      (objects[type] ?? []).map((json) => [json.name, { text: JSON.stringify({ "@type": typeUrlOf(type), ...json }) }]),
    );
  return { clusters: of("clusters"), endpoints: of("endpoints"), listeners: of("listeners"), routes: of("routes") };
};

const messageIn = (resource: LocalResource | undefined) =>
  fromBinary(ClusterSchema, resource?.binary ?? new Uint8Array());

describe("what an agent makes of resources for its Envoy", () => {
  it("has endpoints and routes come by the stream, and is the same object while its texts are", () => {
    const make = createOfferMaker({});
    const texts = textsOf({ clusters: [eds("a")], listeners: [listener("l", "80")] });
    const { offer } = make(texts);
    expect(messageIn(offer.clusters.get("a")).edsClusterConfig?.edsConfig?.configSourceSpecifier.case).toBe("ads");
    const next = make({ ...texts, endpoints: textsOf({}).endpoints }).offer;
    for (const type of coreTypes) if (type !== "endpoints") expect(next[type]).toBe(offer[type]);
  });

  it("stands in for endpoints and routes that are named and not there, until they are", () => {
    const make = createOfferMaker({});
    const texts = textsOf({ clusters: [eds("a")], listeners: [listener("l", "80")] });
    const { offer } = make(texts);
    expect([[...offer.endpoints.keys()], [...offer.routes.keys()]]).toEqual([["a"], ["80"]]);
    expect(offer.routes.get("80")?.source).toBeUndefined();
    const next = make({ ...texts, routes: textsOf({ routes: [{ name: "80" }] }).routes }).offer;
    expect(next.routes.get("80")?.source).toBeDefined();
  });

  it("asks the agent for the workload's certificate where it has one, and the control plane for what it has not", () => {
    const sdsConfig = {
      apiConfigSource: {
        apiType: "GRPC",
        transportApiVersion: "V3",
        grpcServices: [{ envoyGrpc: { clusterName: identityCluster } }],
      },
    };
    const tls = (commonTlsContext: object) => ({
      ...listener("l", "80"),
      filterChains: [
        {
          transportSocket: {
            name: "tls",
            typedConfig: {
              "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
              commonTlsContext,
            },
          },
        },
      ],
    });
    const secrets = [
      { name: "default", sdsConfig },
      { name: "kubernetes://cert", sdsConfig: ads },
    ];
    const texts = textsOf({ listeners: [tls({ tlsCertificateSdsSecretConfigs: secrets })] });
    const sourcesWith = (form: Parameters<typeof createOfferMaker>[0]) => {
      const binary = createOfferMaker(form)(texts).offer.listeners.get("l")?.binary ?? new Uint8Array();
      expect(fromBinary(ListenerSchema, binary).name).toBe("l");
      const text = Buffer.from(binary).toString("latin1");
      return [text.includes(identityCluster), text.includes("portolan")];
    };
    expect(sourcesWith({})).toEqual([true, true]);
    expect(sourcesWith({ secrets: () => ads })).toEqual([false, true]);
  });
});
