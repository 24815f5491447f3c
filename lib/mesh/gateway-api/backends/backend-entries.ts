import type { Config } from "../../../config/config.ts";
import { hostOfBackend, type KubernetesBackend, portOfBackend } from "../../../config/gateway-api/backend.ts";
import type { GRPCRoute } from "../../../config/gateway-api/other-routes.ts";
import type { ServiceEntry } from "../../../config/kinds/service-entry.ts";
import type { Memo } from "../../../incremental/memo.ts";
import { query } from "../../../incremental/query.ts";
import { routesOnlyAnnotation } from "../../../registry/service-entry/convert-services.ts";
import { configsByKind } from "../../index/configs-by-kind.ts";
import { made, madeName } from "../made-objects.ts";

/**
 * All objects, with a ServiceEntry for each XBackend: by it the destination is a service, which routes find. Callers find those outside of
 * the mesh alone.
 *
 * @param isRead whether XBackends count
 * @see https://github.com/istio/istio/blob/86c9f01fd735/pilot/pkg/serviceregistry/serviceentry/gateway.go
 */
export function withBackendEntries(
  configs: readonly Config[],
  { isRead, domain }: { readonly isRead: boolean; readonly domain: string },
  memo: Memo,
): readonly Config[] {
  const of = configsByKind(configs, memo);
  const backends = isRead ? of("XBackend.gateway.networking.x-k8s.io") : [];
  if (backends.length === 0) return configs;
  return joined(memo, { configs, backends, grpcRoutes: of("GRPCRoute.gateway.networking.k8s.io"), domain });
}

interface Inputs {
  readonly configs: readonly Config[];
  readonly backends: readonly Config<KubernetesBackend>[];
  readonly grpcRoutes: readonly Config<GRPCRoute>[];
  readonly domain: string;
}

const joined = query(
  "objects with services of backends",
  ({ configs, backends, grpcRoutes, domain }: Inputs, memo: Memo): readonly Config[] => {
    const ofGrpc = backendsOfRoutes(grpcRoutes);
    const entries = backends.map((backend) => {
      const routed = ofGrpc.has(`${backend.meta.namespace}/${backend.meta.name}`) ? "GRPC" : "HTTP";
      return entryOf(memo, { backend, routed, domain });
    });
    return [...configs, ...entries.filter((entry) => entry !== undefined)];
  },
);

/** `namespace/name` of the XBackends that they name. */
function backendsOfRoutes(routes: readonly Config<GRPCRoute>[]): ReadonlySet<string> {
  const refs = routes.flatMap(({ spec, meta }) =>
    (spec.rules ?? []).flatMap(({ backendRefs = [] }) =>
      backendRefs
        .filter(({ group, kind }) => group === "gateway.networking.x-k8s.io" && kind === "XBackend")
        .map(({ name, namespace = meta.namespace }) => `${namespace}/${name}`),
    ),
  );
  return new Set(refs);
}

interface EntryInputs {
  readonly backend: Config<KubernetesBackend>;
  /** What its routes speak, which counts for selected endpoints where it states no protocol. */
  readonly routed: "GRPC" | "HTTP";
  readonly domain: string;
}

const entryOf = query("service entry of a backend", ({ backend, routed, domain }: EntryInputs) => {
  const { endpointSelector, protocol } = backend.spec;
  const host = hostOfBackend(backend.spec, backend.meta);
  // What is named like a service of the mesh would take that service's calls.
  if ([domain, "clusterset.local"].some((suffix) => host.endsWith(`.svc.${suffix}`))) return undefined;
  const number = portOfBackend(backend.spec);
  const isSelected = endpointSelector !== undefined;
  const name = protocol === undefined && isSelected ? routed : entryProtocol(protocol);
  const ports = [{ number, protocol: name, name }];
  return made<ServiceEntry>(backend, {
    kind: "ServiceEntry",
    // No object of Kubernetes has such a name.
    name: `${backend.meta.name}~${madeName}`,
    annotations: isSelected ? { [routesOnlyAnnotation]: "true" } : {},
    spec: isSelected
      ? {
          hosts: [host],
          ports,
          location: "MESH_INTERNAL",
          resolution: "STATIC",
          workloadSelector: { labels: endpointSelector.matchLabels },
        }
      : { hosts: [host], ports, location: "MESH_EXTERNAL", resolution: "DNS" },
    madeFrom: { spec: ["spec"] },
  });
});

/** A WebSocket begins as a request of HTTP/1.1. */
function entryProtocol(protocol: KubernetesBackend["protocol"]): string {
  switch (protocol) {
    case "HTTP2":
    case "H2C":
      return "HTTP2";
    case "GRPC":
    case "TCP":
      return protocol;
    default:
      return "HTTP";
  }
}
