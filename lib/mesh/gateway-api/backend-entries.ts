import type { Config } from "../../config/config.ts";
import { type KubernetesBackend, portOfBackend } from "../../config/gateway-api/backend.ts";
import type { ServiceEntry } from "../../config/kinds/service-entry.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { configsByKind } from "../index/configs-by-kind.ts";
import { made, madeName } from "./made-objects.ts";

/**
 * All objects, with a ServiceEntry for each XBackend outside of the mesh: by it the host has a service, which routes and callers find.
 *
 * @param isRead whether XBackends count
 * @see https://github.com/istio/istio/blob/86c9f01fd735/pilot/pkg/serviceregistry/serviceentry/gateway.go
 */
export function withBackendEntries(
  configs: readonly Config[],
  { isRead, domain }: { readonly isRead: boolean; readonly domain: string },
  memo: Memo,
): readonly Config[] {
  const backends = isRead ? configsByKind(configs, memo)("XBackend.gateway.networking.x-k8s.io") : [];
  if (backends.length === 0) return configs;
  return joined(memo, { configs, backends, domain });
}

interface Inputs {
  readonly configs: readonly Config[];
  readonly backends: readonly Config<KubernetesBackend>[];
  readonly domain: string;
}

const joined = query(
  "objects with services of backends",
  ({ configs, backends, domain }: Inputs, memo: Memo): readonly Config[] => [
    ...configs,
    ...backends.flatMap((backend) => entryOf(memo, { backend, domain }) ?? []),
  ],
);

const entryOf = query(
  "service entry of a backend",
  ({ backend, domain }: { readonly backend: Config<KubernetesBackend>; readonly domain: string }) => {
    const { externalHostname, protocol } = backend.spec;
    const host = externalHostname?.hostname;
    // What is named like a service of the mesh would take that service's calls.
    if (host === undefined || [domain, "clusterset.local"].some((suffix) => host.endsWith(`.svc.${suffix}`))) {
      return undefined;
    }
    const name = entryProtocol(protocol);
    return made<ServiceEntry>(backend, {
      kind: "ServiceEntry",
      // No object of Kubernetes has such a name.
      name: `${backend.meta.name}~${madeName}`,
      annotations: {},
      spec: {
        hosts: [host],
        ports: [{ number: portOfBackend(backend.spec), protocol: name, name }],
        location: "MESH_EXTERNAL",
        resolution: "DNS",
      },
      madeFrom: { spec: ["spec"] },
    });
  },
);

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
