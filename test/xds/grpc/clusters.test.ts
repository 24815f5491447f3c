import { describe, expect, it } from "vitest";
import { answersOf, echo, service } from "./small-program.ts";

const name = "outbound|7070||echo.default.svc.cluster.local";

const rule = (trafficPolicy: object, subsets: readonly object[] = []): string =>
  `${echo}
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: echo, namespace: default }
spec: ${JSON.stringify({ host: "echo", trafficPolicy, subsets })}
`;

describe("clusters of a gRPC program", () => {
  it("ask the program's own provider for certificates where a rule wants mutual TLS, and expect the accounts of the pods", () => {
    const context = answersOf(
      rule({ tls: { mode: "ISTIO_MUTUAL", sni: "other", subjectAltNames: ["spiffe://other"] } }),
    );
    const provider = { instanceName: "default", certificateName: "default" };
    const authority = { instanceName: "default", certificateName: "ROOTCA" };
    expect(context.at("clusters", name, "transportSocket")).toEqual({
      name: "envoy.transport_sockets.tls",
      typedConfig: {
        "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
        commonTlsContext: {
          tlsCertificateProviderInstance: provider,
          tlsCertificateCertificateProviderInstance: provider,
          combinedValidationContext: {
            defaultValidationContext: {
              matchSubjectAltNames: [{ exact: "spiffe://cluster.local/ns/default/sa/echo" }],
              caCertificateProviderInstance: authority,
            },
            validationContextCertificateProviderInstance: authority,
          },
        },
      },
    });
  });

  it.each(["DISABLE", "SIMPLE"])("have plain text where a rule says %s", (mode) => {
    expect(answersOf(rule({ tls: { mode } })).at("clusters", name, "transportSocket")).toBeUndefined();
  });

  it("keep one host for one hash by a ring, since programs have no maglev", () => {
    const maglev = rule({
      loadBalancer: { consistentHash: { httpHeaderName: "x-user", maglev: { tableSize: 65537 } } },
    });
    expect(answersOf(maglev).at("clusters", name)).toMatchObject({ lbPolicy: "RING_HASH" });
    expect(answersOf(maglev).at("clusters", name, "maglevLbConfig")).toBeUndefined();
    expect(answersOf(maglev, "istio").at("clusters", name)).toMatchObject({
      lbPolicy: "MAGLEV",
      maglevLbConfig: { tableSize: "65537" },
    });
  });

  it("are there for each port and subset of each service", () => {
    const subsets = rule({ loadBalancer: { simple: "ROUND_ROBIN" } }, [{ name: "v1", labels: { version: "v1" } }]);
    expect(answersOf(`${subsets}---${service("other", "10.0.0.2", "team")}`).names("clusters")).toEqual([
      "outbound|7070|v1|echo.default.svc.cluster.local",
      name,
      "outbound|7070||other.team.svc.cluster.local",
    ]);
  });
});
