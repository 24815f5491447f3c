import type { Dice } from "./dice.ts";
import {
  externalHosts,
  headerName,
  type Manifest,
  manifest,
  ports,
  serviceNames,
  workloadNamespaces,
} from "./vocabulary.ts";

const group = "gateway.networking.k8s.io";
const v1 = `${group}/v1`;
const gatewayNames = ["k8s-a", "k8s-b"] as const;
const hostnames = ["www.example.com", "api.example.com", "*.example.com", "*.com", "other.test"] as const;
const sections = ["one", "two", "three"] as const;
const gatewayNamespace = "istio-system";
const routeNamespaces = [...workloadNamespaces, gatewayNamespace] as const;

/** GatewayClasses of ours, by another name than usual, and of somebody else. */
export function randomGatewayClass(dice: Dice): Manifest {
  return manifest(dice, [v1, "GatewayClass"], ["", dice.pick(["istio", "ours", "theirs"])], {
    spec: {
      controllerName: dice.pick(["istio.io/gateway-controller", "istio.io/unmanaged-gateway", "example.com/other"]),
      ...dice.maybe(30, () => ({ description: "a class" })),
      ...dice.maybe(20, () => ({ parametersRef: { group: "", kind: "ConfigMap", name: "x", namespace: "ns1" } })),
    },
  });
}

export function randomKubernetesGateway(dice: Dice): Manifest {
  return manifest(
    dice,
    [v1, "Gateway"],
    [gatewayNamespace, dice.pick(gatewayNames)],
    {
      spec: {
        gatewayClassName: dice.chance(85) ? "istio" : dice.pick(["portolan", "ours", "istio-remote", "theirs"]),
        ...(dice.chance(85) ? { addresses: addresses(dice) } : {}),
        listeners: listeners(dice),
        ...dice.maybe(50, () => ({ allowedListeners: { namespaces: namespaces(dice) } })),
        ...dice.maybe(25, () => ({ tls: gatewayTls(dice) })),
        ...dice.maybe(15, () => ({
          infrastructure: {
            labels: { team: "edge" },
            annotations: { "example.com/note": "x" },
            parametersRef: { group: "", kind: "ConfigMap", name: "settings" },
          },
        })),
        ...dice.maybe(10, () => ({ defaultScope: dice.pick(["All", "None"]) })),
      },
    },
    dice.maybe(20, () => ({ labels: { "topology.istio.io/network": "net1" } })),
  );
}

const addresses = (dice: Dice): readonly object[] =>
  dice.chance(80)
    ? [{ type: "Hostname", value: "istio-ingressgateway" }]
    : dice.pick([
        [{ type: "Hostname", value: "istio-ingressgateway.istio-system.svc.cluster.local" }],
        [
          { type: "Hostname", value: "istio-ingressgateway" },
          { type: "Hostname", value: "a.ns1.svc.cluster.local" },
        ],
        [{ type: "IPAddress", value: "1.2.3.4" }],
        [{ type: "example.com/odd", value: "x" }],
      ]);

const namespaces = (dice: Dice): object =>
  dice.pick([
    { from: "All" },
    { from: "Same" },
    { from: "Selector", selector: { matchLabels: { "kubernetes.io/metadata.name": "ns1" } } },
    { from: "Selector", selector: { matchExpressions: [{ key: "team", operator: "In", values: ["x", "y"] }] } },
    { from: "Selector", selector: { matchExpressions: [{ key: "team", operator: "DoesNotExist" }] } },
  ]);

const listeners = (dice: Dice): readonly object[] => dice.some(sections, 1, 3).map((name) => listener(dice, name));

function listener(dice: Dice, name: string): object {
  const protocol = dice.pick(["HTTP", "HTTP", "HTTPS", "TLS", "TCP", "UDP"]);
  const hasHost = protocol !== "TCP" && protocol !== "UDP" && dice.chance(60);
  return {
    name,
    port: dice.pick([80, 443, 15443, 31400, 8080]),
    protocol,
    ...(hasHost ? { hostname: dice.pick(hostnames) } : {}),
    ...(protocol === "HTTPS" ? { tls: listenerTls(dice) } : {}),
    ...(protocol === "TLS"
      ? { tls: dice.chance(60) ? { mode: "Passthrough", ...dice.maybe(20, () => ({ options })) } : listenerTls(dice) }
      : {}),
    ...dice.maybe(80, () => ({
      allowedRoutes: {
        namespaces: dice.chance(70) ? { from: "All" } : namespaces(dice),
        ...dice.maybe(15, () => ({ kinds: [{ group, kind: dice.pick(["HTTPRoute", "TLSRoute", "UDPRoute"]) }] })),
      },
    })),
  };
}

const options = { "gateway.istio.io/listener-protocol": "auto-passthrough" };

const listenerTls = (dice: Dice): object => ({
  mode: "Terminate",
  certificateRefs: dice.list(1, 2, () => certificate(dice)),
  ...dice.maybe(25, () => ({
    options: dice.pick([
      { "gateway.istio.io/tls-terminate-mode": "MUTUAL" },
      { "gateway.istio.io/tls-terminate-mode": "ISTIO_MUTUAL" },
      { "gateway.istio.io/tls-cipher-suites": "AES128-SHA,nonsense" },
    ]),
  })),
});

const certificate = (dice: Dice): object => ({
  name: dice.pick(["web", "api"]),
  ...dice.maybe(25, () => ({ namespace: dice.pick(workloadNamespaces) })),
  ...dice.maybe(10, () => ({ group: "", kind: dice.pick(["Secret", "ConfigMap"]) })),
});

const caReference = (dice: Dice): object => ({
  group: "",
  kind: dice.pick(["ConfigMap", "Secret"]),
  name: dice.pick(["roots", "web"]),
  ...dice.maybe(20, () => ({ namespace: "ns1" })),
});

const gatewayTls = (dice: Dice): object => ({
  ...dice.maybe(20, () => ({ backend: { clientCertificateRef: certificate(dice) } })),
  frontend: {
    default: dice.chance(80) ? { validation: validation(dice) } : {},
    ...dice.maybe(30, () => ({ perPort: [{ port: 443, tls: { validation: validation(dice) } }] })),
  },
});

const validation = (dice: Dice): object => ({
  caCertificateRefs: dice.list(1, 2, () => caReference(dice)),
  ...dice.maybe(20, () => ({ mode: dice.pick(["AllowValidOnly", "AllowInsecureFallback"]) })),
});

export function randomListenerSet(dice: Dice, name: string): Manifest {
  return manifest(dice, [v1, "ListenerSet"], [dice.pick(routeNamespaces), dice.chance(50) ? "set" : name], {
    spec: {
      parentRef: {
        name: dice.pick(gatewayNames),
        namespace: gatewayNamespace,
        ...dice.maybe(10, () => ({ group, kind: "Gateway" })),
      },
      listeners: listeners(dice),
    },
  });
}

function parentRefs(dice: Dice): object {
  const gateway = () => ({
    name: dice.pick(gatewayNames),
    namespace: gatewayNamespace,
    ...dice.maybe(20, () => ({ sectionName: dice.pick(sections) })),
    ...dice.maybe(10, () => ({ port: dice.pick([80, 443]) })),
  });
  const which = dice.int(10);
  if (which < 6) return { parentRefs: [gateway()] };
  if (which < 8) return { parentRefs: [meshParent(dice), ...(dice.chance(30) ? [gateway()] : [])] };
  if (which === 8) return { parentRefs: [{ group, kind: "ListenerSet", name: "set" }] };
  return dice.pick([{}, { parentRefs: [{ group: "example.com", kind: "Other", name: "x" }] }]);
}

const meshParent = (dice: Dice): object => ({
  ...(dice.chance(80)
    ? { group: "", kind: "Service", name: dice.pick(serviceNames) }
    : { group: "networking.istio.io", kind: "ServiceEntry", name: dice.pick(["object-0", "object-1", "object-2"]) }),
  ...dice.maybe(30, () => ({ namespace: dice.pick(workloadNamespaces) })),
  ...dice.maybe(30, () => ({ port: dice.pick(ports) })),
});

const backendReference = (dice: Dice): object => {
  const which = dice.int(20);
  if (which === 0) return { group: "networking.istio.io", kind: "Hostname", name: dice.pick(externalHosts), port: 443 };
  if (which === 1) return { group: "multicluster.x-k8s.io", kind: "ServiceImport", name: "a", port: 80 };
  if (which === 2) return { group: "example.com", kind: "Bucket", name: "a" };
  return {
    name: which === 3 ? "nowhere" : dice.pick(serviceNames),
    port: dice.pick(ports),
    ...dice.maybe(20, () => ({ namespace: dice.pick(workloadNamespaces) })),
  };
};

const weight = (dice: Dice): object => dice.maybe(50, () => ({ weight: dice.pick([0, 1, 3, 90]) }));

const headerModifier = (dice: Dice): object => ({
  ...dice.maybe(60, () => ({ set: [{ name: headerName(dice), value: "set" }] })),
  ...dice.maybe(40, () => ({ add: [{ name: "X-Added", value: "a b" }] })),
  ...dice.maybe(40, () => ({ remove: ["x-gone"] })),
});

const headerFilter = (dice: Dice): object =>
  dice.chance(50)
    ? { type: "RequestHeaderModifier", requestHeaderModifier: headerModifier(dice) }
    : { type: "ResponseHeaderModifier", responseHeaderModifier: headerModifier(dice) };

const mirror = (dice: Dice): object => ({
  type: "RequestMirror",
  requestMirror: {
    backendRef: backendReference(dice),
    ...dice.pick([{}, { percent: 20 }, { fraction: { numerator: 1, denominator: 1000 } }]),
  },
});

const pathModifier = (dice: Dice): object =>
  dice.pick([
    {},
    { path: { type: "ReplacePrefixMatch", replacePrefixMatch: dice.pick(["/", "/new", "/new/", ""]) } },
    { path: { type: "ReplaceFullPath", replaceFullPath: "/whole" } },
  ]);

const redirect = (dice: Dice): object => ({
  type: "RequestRedirect",
  requestRedirect: {
    ...dice.maybe(50, () => ({ scheme: dice.pick(["http", "https"]) })),
    ...dice.maybe(50, () => ({ hostname: "moved.example.com" })),
    ...dice.maybe(30, () => ({ port: dice.pick([80, 443, 8443]) })),
    ...dice.maybe(50, () => ({ statusCode: dice.pick([301, 302, 303, 307, 308]) })),
    ...pathModifier(dice),
  },
});

const rewrite = (dice: Dice): object => ({
  type: "URLRewrite",
  urlRewrite: { ...dice.maybe(50, () => ({ hostname: "inner.example.com" })), ...pathModifier(dice) },
});

const cors = (dice: Dice): object => ({
  type: "CORS",
  cors: {
    allowOrigins: dice.pick([["*"], ["https://a.example.com", "https://*.example.com"], ["http://*"]]),
    ...dice.maybe(40, () => ({ allowCredentials: dice.chance(50) })),
    ...dice.maybe(40, () => ({ allowMethods: ["GET", "PUT"] })),
    ...dice.maybe(40, () => ({ allowHeaders: ["x-a"], exposeHeaders: ["x-b"] })),
    ...dice.maybe(40, () => ({ maxAge: 600 })),
  },
});

const refusedFilter = (dice: Dice): object =>
  dice.pick([
    { type: "ExtensionRef", extensionRef: { group: "example.com", kind: "Filter", name: "x" } },
    {
      type: "ExternalAuth",
      externalAuth: {
        protocol: "HTTP",
        backendRef: { name: "a", port: 80 },
        http: { path: "/auth", allowedHeaders: ["x-a"], allowedResponseHeaders: ["x-b"] },
        forwardBody: { maxSize: 1024 },
      },
    },
    {
      type: "ExternalAuth",
      externalAuth: { protocol: "GRPC", backendRef: { name: "a", port: 80 }, grpc: { allowedHeaders: ["x-a"] } },
    },
  ]);

const persistence = (dice: Dice): object =>
  dice.maybe(10, () => ({
    sessionPersistence: {
      sessionName: "s",
      type: "Cookie",
      absoluteTimeout: "1h",
      idleTimeout: "10m",
      cookieConfig: { lifetimeType: dice.pick(["Permanent", "Session"]) },
    },
  }));

const httpMatch = (dice: Dice): object => ({
  ...dice.maybe(80, () => ({
    path: dice.pick([
      { type: "PathPrefix", value: "/a" },
      { type: "PathPrefix", value: "/a/" },
      { type: "PathPrefix", value: "/" },
      { type: "Exact", value: "/a/b" },
      { type: "RegularExpression", value: "/[a-z]+" },
    ]),
  })),
  ...dice.maybe(30, () => ({
    headers: [{ name: headerName(dice), type: dice.pick(["Exact", "RegularExpression"]), value: "v" }],
  })),
  ...dice.maybe(20, () => ({
    queryParams: [{ name: "q", type: dice.pick(["Exact", "RegularExpression"]), value: "v" }],
  })),
  ...dice.maybe(20, () => ({ method: dice.pick(["GET", "POST"]) })),
});

function httpRule(dice: Dice): object {
  const redirects = dice.chance(15);
  const action = redirects ? redirect(dice) : dice.pick([rewrite, mirror, cors, headerFilter, headerFilter])(dice);
  return {
    ...dice.maybe(10, () => ({ name: dice.pick(["rule-a", "rule-b", "rule-c"]) })),
    ...dice.maybe(80, () => ({ matches: dice.list(1, 2, () => httpMatch(dice)) })),
    ...(redirects || dice.chance(40) ? { filters: [action, ...(dice.chance(5) ? [refusedFilter(dice)] : [])] } : {}),
    ...(redirects || dice.chance(5)
      ? {}
      : {
          backendRefs: dice.list(1, 3, () => ({
            ...backendReference(dice),
            ...weight(dice),
            ...dice.maybe(10, () => ({ filters: [dice.chance(90) ? headerFilter(dice) : mirror(dice)] })),
          })),
        }),
    ...dice.maybe(15, () => ({
      timeouts: dice.pick([{ request: "10s" }, { request: "10s", backendRequest: "2s" }, { backendRequest: "1s" }]),
    })),
    ...dice.maybe(15, () => ({
      retry: { ...dice.maybe(50, () => ({ attempts: dice.int(4) })), codes: [503, 504], backoff: "100ms" },
    })),
    ...persistence(dice),
  };
}

const routeHosts = (dice: Dice): object => dice.maybe(60, () => ({ hostnames: dice.some(hostnames, 1, 2) }));
const scope = (dice: Dice): object => dice.maybe(5, () => ({ useDefaultGateways: dice.pick(["All", "None"]) }));

export function randomHTTPRoute(dice: Dice, name: string): Manifest {
  return manifest(dice, [v1, "HTTPRoute"], [dice.pick(routeNamespaces), name], {
    spec: {
      ...parentRefs(dice),
      ...routeHosts(dice),
      ...scope(dice),
      ...dice.maybe(95, () => ({ rules: dice.list(1, 3, () => httpRule(dice)) })),
    },
  });
}

export function randomGRPCRoute(dice: Dice, name: string): Manifest {
  const match = () => ({
    ...dice.maybe(80, () => ({
      method: {
        type: dice.pick(["Exact", "RegularExpression"]),
        ...dice.pick([{ service: "pkg.Books" }, { method: "Get" }, { service: "pkg.Books", method: "Get" }]),
      },
    })),
    ...dice.maybe(30, () => ({ headers: [{ name: headerName(dice), type: "Exact", value: "v" }] })),
  });
  const filter = () => (dice.chance(80) ? headerFilter(dice) : mirror(dice));
  const rule = () => ({
    ...dice.maybe(10, () => ({ name: dice.pick(["call-a", "call-b", "call-c"]) })),
    ...dice.maybe(70, () => ({ matches: dice.list(1, 2, match) })),
    ...dice.maybe(30, () => ({ filters: [filter()] })),
    ...dice.maybe(90, () => ({
      backendRefs: dice.list(1, 2, () => ({
        ...backendReference(dice),
        ...weight(dice),
        ...dice.maybe(10, () => ({ filters: [headerFilter(dice)] })),
      })),
    })),
    ...persistence(dice),
  });
  return manifest(dice, [v1, "GRPCRoute"], [dice.pick(routeNamespaces), name], {
    spec: { ...parentRefs(dice), ...routeHosts(dice), ...scope(dice), rules: dice.list(1, 2, rule) },
  });
}

const streamRule = (dice: Dice): object => ({
  ...dice.maybe(20, () => ({ name: "stream" })),
  backendRefs: dice.list(1, 2, () => ({ ...backendReference(dice), ...weight(dice) })),
});

export function randomStreamRoute(dice: Dice, name: string): Manifest {
  const isTls = dice.chance(60);
  return manifest(
    dice,
    isTls ? [v1, "TLSRoute"] : [dice.pick([v1, `${group}/v1alpha2`]), "TCPRoute"],
    [dice.pick(routeNamespaces), name],
    {
      spec: {
        ...parentRefs(dice),
        ...scope(dice),
        ...(isTls ? { hostnames: dice.some(hostnames, 1, 2) } : {}),
        rules: [streamRule(dice)],
      },
    },
  );
}

export function randomReferenceGrant(dice: Dice, name: string): Manifest {
  return manifest(dice, [`${group}/v1beta1`, "ReferenceGrant"], [dice.pick(workloadNamespaces), name], {
    spec: {
      from: dice.list(1, 2, () => ({
        group,
        kind: dice.pick(["HTTPRoute", "GRPCRoute", "TLSRoute", "Gateway", "ListenerSet"]),
        namespace: dice.pick(routeNamespaces),
      })),
      to: dice.list(1, 2, () => ({
        group: "",
        kind: dice.pick(["Service", "Secret"]),
        ...dice.maybe(30, () => ({ name: dice.pick([...serviceNames, "web"]) })),
      })),
    },
  });
}

export function randomBackendPolicy(dice: Dice, name: string): Manifest {
  const target = dice.chance(80)
    ? { group: "", kind: "Service", name: dice.pick(serviceNames) }
    : { group: "networking.istio.io", kind: "ServiceEntry", name: dice.pick(["object-0", "object-1", "object-2"]) };
  const namespace = dice.pick(workloadNamespaces);
  if (dice.chance(30)) {
    return manifest(dice, ["gateway.networking.x-k8s.io/v1alpha1", "XBackendTrafficPolicy"], [namespace, name], {
      spec: {
        targetRefs: [target],
        ...dice.maybe(70, () => ({
          retryConstraint: {
            budget: { percent: 30, interval: "10s" },
            ...dice.maybe(50, () => ({ minRetryRate: { count: 3, interval: "1s" } })),
          },
        })),
        ...persistence(dice),
      },
    });
  }
  return manifest(
    dice,
    [v1, "BackendTLSPolicy"],
    [namespace, name],
    {
      spec: {
        targetRefs: [{ ...target, ...dice.maybe(30, () => ({ sectionName: dice.pick(["http-80", "port-443"]) })) }],
        validation: {
          hostname: "inner.example.com",
          ...(dice.chance(50)
            ? { wellKnownCACertificates: "System" }
            : { caCertificateRefs: [{ group: "", kind: "ConfigMap", name: "roots" }] }),
          ...dice.maybe(30, () => ({
            subjectAltNames: [
              { type: "Hostname", hostname: "other.example.com" },
              { type: "URI", uri: "spiffe://td/ns/x/sa/y" },
            ],
          })),
        },
        ...dice.maybe(10, () => ({ options: { "example.com/x": "y" } })),
      },
    },
    dice.maybe(50, () => ({ uid: dice.pick(["1", "2"]) })),
  );
}

/** Outside of the mesh or selected, in the forms of 1.6 and 1.7. */
export function randomKubernetesBackend(dice: Dice, name: string): Manifest {
  const isOutside = dice.chance(50);
  const number = dice.pick([80, 443, 8080]);
  const mode = dice.pick(["None", "ServerOnly", "ClientAndServer"]);
  return manifest(dice, ["gateway.networking.x-k8s.io/v1alpha1", "XBackend"], [dice.pick(workloadNamespaces), name], {
    spec: {
      ...(isOutside
        ? { type: "ExternalHostname", externalHostname: { hostname: dice.pick(externalBackends) } }
        : { type: "EndpointSelector", endpointSelector: { matchLabels: { app: dice.pick(serviceNames) } } }),
      port: isOutside && dice.chance(20) ? { port: number } : { number },
      ...dice.maybe(60, () => ({ protocol: dice.pick(mode === "None" ? plainProtocols : tlsProtocols) })),
      ...dice.maybe(mode === "None" ? 50 : 100, () => ({
        tls: {
          mode,
          ...(mode === "ClientAndServer" ? { clientCertificateRef: { name: "client" } } : {}),
          ...(mode === "None"
            ? {}
            : { validation: { hostname: "inner.example.com", wellKnownCACertificates: "System" } }),
        },
      })),
      ...(isOutside
        ? {}
        : dice.maybe(20, () => ({
            sessionPersistence: dice.pick([
              { cookie: { name: "s", lifetimeType: "Permanent" }, absoluteTimeout: "1h" },
              { type: "Header", header: { name: "x-session" } },
            ]),
          }))),
    },
  });
}

const externalBackends = ["one.example.net", "two.example.net"] as const;
const plainProtocols = ["TCP", "HTTP", "HTTP11", "H2C", "MCP", "GRPC"] as const;
const tlsProtocols = ["TCP", "HTTP", "HTTP11", "HTTP2", "MCP", "GRPC", "WSS"] as const;

/** Namespaces with labels, and certificates to trust: what objects of the Gateway API ask for beside each other. */
export function gatewaySurroundings(dice: Dice): readonly Manifest[] {
  return [
    ...routeNamespaces.map((name) =>
      manifest(
        dice,
        ["v1", "Namespace"],
        ["", name],
        {},
        { labels: dice.maybe(50, () => ({ team: dice.pick(["x", "z"]) })) },
      ),
    ),
    manifest(dice, ["v1", "ConfigMap"], ["ns1", "roots"], { data: dice.pick([{ "ca.crt": "" }, { other: "x" }]) }),
  ];
}
