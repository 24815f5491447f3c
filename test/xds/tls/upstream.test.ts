import { describe, expect, it } from "vitest";
import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { fieldsOf } from "../../../lib/base/untyped.ts";
import type { ClientTLSSettings } from "../../../lib/config/kinds/destination-rule.ts";
import { noMemo } from "../../../lib/incremental/memo.ts";
import { wholeList } from "../../../lib/xds/resource.ts";
import { clustersOf, clusterView, endpoint, externalService, type Parts, port, rule, service } from "../world-parts.ts";

const cart = service("cart");
const host = cart.hostname;
const accounts = ["spiffe://cluster.local/ns/default/sa/cart"];

function cluster(parts: Parts, name = `outbound|80||${host}`): ClusterJson {
  const made = wholeList(clustersOf(clusterView({ services: [cart], accounts, ...parts }), noMemo));
  return made.find((resource) => resource.name === name)?.json ?? {};
}

const stated = (tls: ClientTLSSettings, more: Partial<Parameters<typeof rule>[0]> = {}): Pick<Parts, "rules"> => ({
  rules: { [host]: rule({ host, trafficPolicy: { tls }, ...more }) },
});

/** TLS context of a cluster, wherever it stands. */
function context(json: ClusterJson): Record<string, unknown> {
  const socket = json.transportSocket ?? json.transportSocketMatches?.[0]?.transportSocket;
  return { ...socket?.typedConfig };
}

const options = (json: ClusterJson): unknown => Object.values(json.typedExtensionProtocolOptions ?? {})[0];

const agent = (name: string, waits: boolean) => ({
  name,
  sdsConfig: {
    apiConfigSource: {
      apiType: "GRPC",
      transportApiVersion: "V3",
      setNodeOnFirstMessageOnly: true,
      grpcServices: [{ envoyGrpc: { clusterName: "sds-grpc" } }],
    },
    resourceApiVersion: "V3",
    ...(waits ? { initialFetchTimeout: "0s" } : {}),
  },
});

const versions = { tlsMinimumProtocolVersion: "TLSv1_2", tlsMaximumProtocolVersion: "TLSv1_3" };

describe("automatic mTLS", () => {
  it("is a choice for each endpoint, with plain text as the other", () => {
    const json = cluster({});
    expect(json.transportSocketMatches?.map(({ name, match }) => ({ name, match }))).toEqual([
      { name: "tlsMode-istio", match: { tlsMode: "istio" } },
      { name: "tlsMode-disabled", match: {} },
    ]);
    expect(context(json)).toEqual({
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
      sni: `outbound_.80_._.${host}`,
      commonTlsContext: {
        tlsParams: versions,
        alpnProtocols: ["istio-peer-exchange", "istio"],
        tlsCertificateSdsSecretConfigs: [agent("default", true)],
        combinedValidationContext: {
          defaultValidationContext: { matchSubjectAltNames: [{ exact: accounts[0] }] },
          validationContextSdsSecretConfig: agent("ROOTCA", true),
        },
      },
    });
  });

  it("offers HTTP/2 where the cluster speaks it", () => {
    const grpc = service("cart", { ports: [port("grpc", 80, "GRPC")] });
    expect(context(cluster({ services: [grpc] }))).toMatchObject({
      commonTlsContext: { alpnProtocols: ["istio-peer-exchange", "istio", "h2"] },
    });
  });

  it("names the subset in its SNI", () => {
    const json = cluster({ rules: { [host]: rule({ host, subsets: [{ name: "v1" }] }) } }, `outbound|80|v1|${host}`);
    expect(context(json)).toMatchObject({ sni: `outbound_.80_.v1_.${host}` });
  });

  const headless = service("cart", { resolution: "Passthrough" });
  const plain = endpoint("10.1.0.2", { tlsMode: "disabled" });

  it.each([
    { case: "it is switched off", parts: { mesh: { enableAutoMtls: false } } },
    { case: "the namespace wants plain text", parts: { namespaceMode: "DISABLE" } },
    { case: "the service is external", parts: { services: [{ ...cart, meshExternal: true }] } },
    { case: "a headless service has no endpoints", parts: { services: [headless] } },
    {
      case: "an endpoint of a headless service has no proxy",
      parts: { services: [headless], endpoints: { [host]: [endpoint("10.1.0.1"), plain] } },
    },
  ] as const)("is not there when $case", ({ parts }) => {
    const json = cluster(parts);
    expect(json.name).toBe(`outbound|80||${host}`);
    expect(context(json)).toEqual({});
  });

  it("sends the name of each request to a wildcard that is resolved by request", () => {
    const wildcard = service("dyn", { resolution: "DynamicDNS", hostname: "*.dyn.example.com" });
    const json = cluster({ services: [wildcard] }, "outbound|80||*.dyn.example.com");
    expect(context(json)).not.toHaveProperty("sni");
    expect(json.transportSocketMatches).toHaveLength(2);
    expect(options(json)).toMatchObject({ upstreamHttpProtocolOptions: { autoSni: true, autoSanValidation: true } });
    expect(JSON.stringify(json.clusterType)).not.toContain("allowInsecureClusterOptions");
  });

  it("is a plain socket where the original destination is kept", () => {
    const json = cluster({ services: [headless], endpoints: { [host]: [endpoint("10.1.0.1")] } });
    expect(json.transportSocket?.name).toBe("envoy.transport_sockets.tls");
    expect(json).not.toHaveProperty("transportSocketMatches");
  });

  it("uses certificate files of the proxy where it brings some", () => {
    const clientFiles = { TLS_CLIENT_CERT_CHAIN: "/c.pem", TLS_CLIENT_KEY: "/k.pem", TLS_CLIENT_ROOT_CERT: "/r.pem" };
    const json = cluster({ clientFiles });
    expect(json).not.toHaveProperty("transportSocketMatches");
    expect(context(json)).toMatchObject({
      sni: `outbound_.80_._.${host}`,
      commonTlsContext: {
        tlsCertificateSdsSecretConfigs: [{ name: "file-cert:/c.pem~/k.pem" }],
        combinedValidationContext: { validationContextSdsSecretConfig: { name: "file-root:/r.pem" } },
      },
    });
  });
});

describe("ISTIO_MUTUAL by rule", () => {
  it("is a plain socket for all endpoints", () => {
    const json = cluster(stated({ mode: "ISTIO_MUTUAL" }));
    expect(json).not.toHaveProperty("transportSocketMatches");
    expect(context(json)).toMatchObject({ sni: `outbound_.80_._.${host}` });
  });

  it("takes SNI and names of the rule before the service's", () => {
    const tls = { mode: "ISTIO_MUTUAL", sni: "s.example", subjectAltNames: ["spiffe://x"] } as const;
    expect(context(cluster(stated(tls)))).toMatchObject({
      sni: "s.example",
      commonTlsContext: {
        combinedValidationContext: { defaultValidationContext: { matchSubjectAltNames: [{ exact: "spiffe://x" }] } },
      },
    });
  });

  it("checks no name of a service without accounts", () => {
    expect(context(cluster({ accounts: [], ...stated({ mode: "ISTIO_MUTUAL" }) }))).toMatchObject({
      commonTlsContext: { combinedValidationContext: { defaultValidationContext: {} } },
    });
  });
});

describe("TLS origination", () => {
  it("with nothing stated takes names from the request and trusts the system's roots", () => {
    const json = cluster(stated({ mode: "SIMPLE" }));
    expect(context(json)).toMatchObject({
      commonTlsContext: {
        tlsParams: versions,
        combinedValidationContext: {
          defaultValidationContext: {},
          validationContextSdsSecretConfig: agent("file-root:system", false),
        },
      },
    });
    expect(context(json)).not.toHaveProperty("sni");
    expect(options(json)).toMatchObject({
      upstreamHttpProtocolOptions: { autoSni: true, autoSanValidation: true },
      explicitHttpConfig: { httpProtocolOptions: {} },
    });
    expect(json.metadata?.filterMetadata?.istio).toMatchObject({ alpn_override: "false" });
  });

  it.each([
    { tls: { sni: "a.example" }, want: undefined },
    { tls: { subjectAltNames: ["a.example"] }, want: { autoSni: true } },
    { tls: { insecureSkipVerify: true }, want: { autoSni: true } },
  ])("asks for automatic names $want with $tls", ({ tls, want }) => {
    const upstream = { ...(options(cluster(stated({ mode: "SIMPLE", ...tls }))) ?? {}) };
    expect("upstreamHttpProtocolOptions" in upstream ? upstream.upstreamHttpProtocolOptions : undefined).toEqual(want);
  });

  it("checks nothing when told so", () => {
    expect(context(cluster(stated({ mode: "SIMPLE", insecureSkipVerify: true })))).toMatchObject({
      commonTlsContext: { validationContext: {} },
    });
  });

  it("expects the names that a ServiceEntry declares where the rule states none", () => {
    const external = externalService("x.example", { resolution: "ClientSideLB" });
    const rules = { "x.example": rule({ host: "x.example", trafficPolicy: { tls: { mode: "SIMPLE" } } }) };
    const json = cluster({ services: [external], accounts: ["spiffe://x"], rules }, "outbound|80||x.example");
    expect(context(json)).toMatchObject({
      commonTlsContext: {
        combinedValidationContext: { defaultValidationContext: { matchSubjectAltNames: [{ exact: "spiffe://x" }] } },
      },
    });
  });

  it("with a client certificate needs both its files, or stays plain", () => {
    const files = { mode: "MUTUAL", clientCertificate: "/c.pem", privateKey: "/k.pem", caCrl: "/crl.pem" } as const;
    expect(context(cluster(stated(files)))).toMatchObject({
      commonTlsContext: {
        tlsCertificateSdsSecretConfigs: [agent("file-cert:/c.pem~/k.pem", false)],
        combinedValidationContext: { defaultValidationContext: { crl: { filename: "/crl.pem" } } },
      },
    });
    expect(context(cluster(stated({ mode: "MUTUAL", clientCertificate: "/c.pem" })))).toEqual({});
  });

  it("lays the mesh's curves and ciphers over its own parameters, not over mesh mTLS", () => {
    const mesh = { tlsDefaults: { ecdhCurves: ["P-256"], cipherSuites: ["A"] } };
    const tlsParams = { ...versions, ecdhCurves: ["P-256"], cipherSuites: ["A"] };
    expect(context(cluster({ mesh, ...stated({ mode: "SIMPLE" }) }))).toMatchObject({
      commonTlsContext: { tlsParams },
    });
    expect(context(cluster({ mesh }))).toMatchObject({ commonTlsContext: { tlsParams: versions } });
  });

  it("offers HTTP/2 alone to an HTTP/2 cluster", () => {
    const grpc = service("cart", { ports: [port("grpc", 80, "GRPC")] });
    expect(context(cluster({ services: [grpc], ...stated({ mode: "SIMPLE" }) }))).toMatchObject({
      commonTlsContext: { alpnProtocols: ["h2"] },
    });
  });
});

describe("a credential", () => {
  const tls = { mode: "MUTUAL", credentialName: "shop" } as const;
  const ads = (name: string) => ({ name, sdsConfig: { ads: {}, resourceApiVersion: "V3" } });
  const both = {
    commonTlsContext: {
      tlsCertificateSdsSecretConfigs: [ads("kubernetes://shop")],
      combinedValidationContext: { validationContextSdsSecretConfig: ads("kubernetes://shop-cacert") },
    },
  };

  it("is fetched by gateways, and by sidecars that a rule selects", () => {
    expect(context(cluster({ proxy: { type: "router" }, ...stated(tls) }))).toMatchObject(both);
    expect(context(cluster(stated(tls, { workloadSelector: { matchLabels: { app: "a" } } })))).toMatchObject(both);
  });

  it("is not for every sidecar in reach of a rule: those connect in plain text", () => {
    const json = cluster(stated(tls));
    expect(context(json)).toEqual({});
    expect(options(json)).toBeUndefined();
  });

  it("in a configuration map is open to all", () => {
    const json = cluster(stated({ mode: "SIMPLE", credentialName: "configmap://ns/ca" }));
    expect(context(json)).toMatchObject({
      commonTlsContext: {
        combinedValidationContext: { validationContextSdsSecretConfig: ads("configmap://ns/ca-cacert") },
      },
    });
  });
});

describe("a credential that holds authorities alone", () => {
  const ads = (name: string) => ({ name, sdsConfig: { ads: {}, resourceApiVersion: "V3" } });
  const selecting = { workloadSelector: { matchLabels: { app: "a" } } };
  const authorities = (tls: ClientTLSSettings, parts: Parts = {}, more: Partial<Parameters<typeof rule>[0]> = {}) => {
    const { commonTlsContext } = context(cluster({ ...parts, ...stated(tls, more) }));
    return fieldsOf(fieldsOf(fieldsOf(commonTlsContext).combinedValidationContext)).validationContextSdsSecretConfig;
  };

  it("takes the place of the one beside the key pair, and of files", () => {
    const router: Parts = { proxy: { type: "router" } };
    const tls = { mode: "SIMPLE", caCertCredentialName: "roots" } as const;
    expect(authorities(tls, router)).toEqual(ads("kubernetes://roots-cacert"));
    expect(authorities({ ...tls, caCertCredentialName: "roots-cacert" }, router)).toEqual(
      ads("kubernetes://roots-cacert"),
    );
    expect(authorities({ ...tls, credentialName: "pair", mode: "MUTUAL" }, router)).toEqual(
      ads("kubernetes://roots-cacert"),
    );
    const files = { clientCertificate: "/c", privateKey: "/k" };
    expect(authorities({ ...tls, ...files, mode: "MUTUAL" }, {}, selecting)).toEqual(ads("kubernetes://roots-cacert"));
  });

  it("is left for files by a sidecar that no rule selects", () => {
    expect(authorities({ mode: "SIMPLE", caCertCredentialName: "roots" })).toEqual(agent("file-root:system", false));
  });

  it("is not asked for where nothing is verified", () => {
    const unverified = { mode: "MUTUAL", credentialName: "pair", insecureSkipVerify: true } as const;
    expect(
      authorities({ ...unverified, caCertCredentialName: "roots" }, { proxy: { type: "router" } }),
    ).toBeUndefined();
  });
});

describe("the PROXY protocol", () => {
  const version = { proxyProtocol: { version: "V2" } } as const;
  const wrapper = "envoy.transport_sockets.upstream_proxy_protocol";

  it("wraps every socket of a choice", () => {
    const json = cluster({ rules: { [host]: rule({ host, trafficPolicy: { proxyProtocol: {} } }) } });
    expect(json.transportSocketMatches?.map((match) => match.transportSocket?.name)).toEqual([wrapper, wrapper]);
    expect(json.transportSocketMatches?.[1]?.transportSocket?.typedConfig).toMatchObject({
      config: {},
      transportSocket: { name: "envoy.transport_sockets.raw_buffer" },
    });
  });

  it("wraps plain text where there is no TLS", () => {
    const trafficPolicy = { ...version, tls: { mode: "DISABLE" } } as const;
    expect(cluster({ rules: { [host]: rule({ host, trafficPolicy }) } }).transportSocket).toMatchObject({
      name: wrapper,
      typedConfig: { config: { version: "V2" }, transportSocket: { name: "raw_buffer" } },
    });
  });
});
