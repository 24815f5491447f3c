/** For each rule in CEL, by kind and in its order, a spec that breaks it; the last of each kind breaks none. */
export const celSamples: Readonly<Record<string, readonly object[]>> = {
  VirtualService: [
    { hosts: ["a.com"], http: [{ route: [{ destination: { host: "a" } }], redirect: { uri: "/" } }] },
    {
      hosts: ["a.com"],
      http: [
        {
          route: [
            { destination: { host: "a" }, weight: -1 },
            { destination: { host: "b" }, weight: 2 },
          ],
        },
      ],
    },
    { hosts: ["a.com"], http: [{ route: [{ destination: { host: "" } }] }] },
    { hosts: ["a.com"], http: [{ fault: { abort: { httpStatus: 700 } }, route: [{ destination: { host: "a" } }] }] },
    { hosts: ["a.com"], http: [{ route: [{ destination: { host: "a" } }] }] },
  ],
  DestinationRule: [
    { subsets: [{ name: "v1" }] },
    { host: "a", subsets: [{ labels: { a: "b" } }] },
    { host: "a", subsets: [{ name: "v1", labels: { a: "b" } }] },
  ],
  Gateway: [
    { selector: { a: "b" } },
    { servers: [{ port: { number: 80, name: "http", protocol: "HTTP" } }] },
    { servers: [{ port: { number: 0, name: "http", protocol: "HTTP" }, hosts: ["a.com"] }] },
    { servers: [{ port: { number: 443, name: "https", protocol: "HTTPS" }, hosts: ["a.com"] }] },
    {
      servers: [
        {
          port: { number: 443, name: "https", protocol: "HTTPS" },
          hosts: ["a.com"],
          tls: { mode: "SIMPLE", credentialName: "a" },
        },
      ],
    },
  ],
  ServiceEntry: [
    { hosts: [], ports: [{ number: 80, name: "http", protocol: "HTTP" }], resolution: "STATIC" },
    { hosts: ["*"], ports: [{ number: 80, name: "http", protocol: "HTTP" }] },
    { hosts: ["a.com"], ports: [{ number: 65_536, name: "http", protocol: "HTTP" }] },
    { hosts: ["a.com"], ports: [80, 81].map((number) => ({ number, name: "http", protocol: "HTTP" })) },
    {
      hosts: ["a.com"],
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      resolution: "STATIC",
      endpoints: [{ address: "10.0.0.1" }],
      workloadSelector: { labels: { a: "b" } },
    },
    { hosts: ["a.com"], ports: [{ number: 80, name: "http", protocol: "HTTP" }], resolution: "DNS" },
  ],
  WorkloadEntry: [{ labels: { a: "b" } }, { address: "10.0.0.1" }],
  Sidecar: [
    { egress: [{ port: { number: 80, protocol: "HTTP", name: "a" } }] },
    { egress: [{ hosts: ["a"] }] },
    { egress: [{ hosts: ["./*"] }] },
  ],
  AuthorizationPolicy: [
    {
      selector: { matchLabels: { a: "b" } },
      targetRefs: [{ kind: "Gateway", group: "gateway.networking.k8s.io", name: "a" }],
    },
    { action: "CUSTOM", rules: [{}] },
    { action: "DENY", provider: { name: "a" }, rules: [{}] },
    { rules: [{ from: [{}] }] },
    { rules: [{ to: [{}] }] },
    { rules: [{ when: [{ values: ["a"] }] }] },
    { rules: [{ from: [{ source: { namespaces: ["a"] } }] }] },
  ],
  PeerAuthentication: [{ portLevelMtls: { 80: { mode: "STRICT" } } }, { mtls: { mode: "STRICT" } }],
  RequestAuthentication: [
    {
      selector: { matchLabels: { a: "b" } },
      targetRefs: [{ kind: "Gateway", group: "gateway.networking.k8s.io", name: "a" }],
    },
    { jwtRules: [{ issuer: "a", jwksUri: "https://a.com/keys" }] },
  ],
  WasmPlugin: [{ phase: "AUTHN" }, { url: "oci://a.com/b" }],
};
