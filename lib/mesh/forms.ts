/**
 * Where a form of answers follows Istio although that tells proxies apart which nothing else tells apart. Whatever differs
 * between the two forms differs by one of these rules, which docs/differences.md describes under the same names; no other
 * place asks which form is meant.
 */
export interface Form {
  /** Tags about the proxy stand in every connection manager, although nothing can send a span. */
  readonly tagsWithoutTracer: boolean;
  /** OpenTelemetry's conventions call a service that nothing names after its pod, and not after its canonical name. */
  readonly podAsServiceName: boolean;
  /** A sidecar has no outbound listener for its own address among the endpoints of a headless service. */
  readonly ownHeadlessAddressLeftOut: boolean;
  /** The pod's first address is part of the names of Sidecar ingress listeners without `bind`. */
  readonly ownAddressInIngressNames: boolean;
  /** Fields that a release of Istio brought stand only in answers for proxies that claim to be of that release or a later one. */
  readonly claimedVersionHeeded: boolean;
  /** Keys behind a `jwksUri` are the control plane's to fetch, which this one never does; otherwise proxies fetch them. */
  readonly keySetsLeftToControlPlane: boolean;
  /** The route table that a gRPC program asks for has all hosts of its port, and not only the one that it is for. */
  readonly grpcTablesOfWholePorts: boolean;
  /** A GRPCRoute loses to an HTTPRoute of its name and namespace, host by host, in the order of their hosts. */
  readonly grpcNamesakesLeftOut: boolean;
  /** gRPC programs are sent what makes them refuse the whole resource that it stands in. */
  readonly grpcRefusalsSent: boolean;
  /** At gRPC servers, policies that they cannot heed as a proxy would leave everything open, and those tried out are enforced. */
  readonly grpcPoliciesOpen: boolean;
  /** gRPC servers find listeners also at their own addresses, and not only at those that stand for all of a family. */
  readonly grpcOwnAddresses: boolean;
}

export type FormName = "istio" | "shared";

/** Istio's own form, and the one that proxies can share. */
export const forms: Readonly<Record<FormName, Form>> = {
  istio: {
    tagsWithoutTracer: true,
    podAsServiceName: true,
    ownHeadlessAddressLeftOut: true,
    ownAddressInIngressNames: true,
    claimedVersionHeeded: true,
    keySetsLeftToControlPlane: true,
    grpcTablesOfWholePorts: true,
    grpcNamesakesLeftOut: true,
    grpcRefusalsSent: true,
    grpcPoliciesOpen: true,
    grpcOwnAddresses: true,
  },
  shared: {
    tagsWithoutTracer: false,
    podAsServiceName: false,
    ownHeadlessAddressLeftOut: false,
    ownAddressInIngressNames: false,
    claimedVersionHeeded: false,
    keySetsLeftToControlPlane: false,
    grpcTablesOfWholePorts: false,
    grpcNamesakesLeftOut: false,
    grpcRefusalsSent: false,
    grpcPoliciesOpen: false,
    grpcOwnAddresses: false,
  },
};
