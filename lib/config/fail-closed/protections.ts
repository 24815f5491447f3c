/**
 * Which fields of a kind may not be ignored where they are not known, as those of a newer release are:
 * `all`; `tls`: those that are about TLS; `all-with-tls`: all of an object that states TLS; `authorization`: those that are about it;
 * `none`.
 */
type Unknown = "all" | "tls" | "all-with-tls" | "authorization" | "none";

/**
 * What it means that an object is refused and no valid form of it is known. `closes`: something stands in for it, which closes what it
 * protects. `absent`: what it would open, or where it would listen, is not there. `harmless`: it protects nothing.
 */
type Refused = "closes" | "absent" | "harmless";

export interface Protection {
  readonly unknown: Unknown;
  readonly refused: Refused;
}

const of = (unknown: Unknown, refused: Refused): Protection => ({ unknown, refused });
export const harmless = of("none", "harmless");

const istio = (group: string, kinds: Readonly<Record<string, Protection>>) =>
  Object.entries(kinds).map(([kind, protection]) => [`${group}/${kind}`, protection] as const);

/** A decision for each kind that is read, by `group/kind`; a test holds this table against all kinds. It is loaded without their schemas. */
export const protections: ReadonlyMap<string, Protection> = new Map([
  ...istio("security.istio.io", {
    AuthorizationPolicy: of("all", "closes"),
    PeerAuthentication: of("all", "closes"),
    RequestAuthentication: of("all", "closes"),
  }),
  ...istio("networking.istio.io", {
    DestinationRule: of("all-with-tls", "closes"),
    EnvoyFilter: of("all", "closes"),
    // It also says where it listens, and for whom.
    Gateway: of("all", "absent"),
    ProxyConfig: harmless,
    ServiceEntry: harmless,
    Sidecar: of("all", "closes"),
    VirtualService: harmless,
    WorkloadEntry: harmless,
    WorkloadGroup: harmless,
  }),
  ...istio("telemetry.istio.io", { Telemetry: harmless }),
  ...istio("extensions.istio.io", { TrafficExtension: of("all", "closes"), WasmPlugin: of("all", "closes") }),
  ...istio("networking.k8s.io", { Ingress: of("none", "absent"), IngressClass: harmless }),
  ...istio("gateway.networking.k8s.io", {
    BackendTLSPolicy: of("all", "closes"),
    Gateway: of("tls", "absent"),
    GatewayClass: harmless,
    GRPCRoute: of("authorization", "absent"),
    HTTPRoute: of("authorization", "absent"),
    ListenerSet: of("tls", "absent"),
    ReferenceGrant: of("all", "absent"),
    TCPRoute: of("none", "absent"),
    TLSRoute: of("none", "absent"),
    UDPRoute: of("none", "absent"),
  }),
  ...istio("gateway.networking.x-k8s.io", {
    XBackend: of("tls", "absent"),
    XBackendTrafficPolicy: harmless,
    XMesh: harmless,
    XTelemetryPolicy: harmless,
  }),
  ...istio("inference.networking.k8s.io", { InferencePool: harmless }),
  ...istio("config.istio.io", {
    DestinationPolicy: harmless,
    EgressRule: of("none", "absent"),
    EndUserAuthenticationPolicySpec: harmless,
    EndUserAuthenticationPolicySpecBinding: harmless,
    HTTPAPISpec: harmless,
    HTTPAPISpecBinding: harmless,
    IngressRule: of("none", "absent"),
    QuotaSpec: harmless,
    QuotaSpecBinding: harmless,
    RouteRule: harmless,
    // Mixer's.
    adapter: harmless,
    attributemanifest: harmless,
    handler: harmless,
    instance: harmless,
    rule: harmless,
    template: harmless,
  }),
  // What stands below is of Istio up to 1.5; those that grant something grant nothing where they are refused.
  ...istio("authentication.istio.io", { MeshPolicy: of("all", "closes"), Policy: of("all", "closes") }),
  ...istio("rbac.istio.io", {
    ClusterRbacConfig: of("all", "closes"),
    RbacConfig: of("all", "closes"),
    ServiceRole: of("all", "absent"),
    ServiceRoleBinding: of("all", "absent"),
  }),
]);
