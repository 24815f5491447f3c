import { type Memo, noMemo } from "../../incremental/memo.ts";
import type { NodeId } from "../../legacy/node-id.ts";
import { gatewayListeners } from "../compat/gateway.ts";
import type { LdsDocument, Listener } from "../documents.ts";
import type { LegacyInstance, LegacyMesh } from "../legacy-world.ts";
import { ingressTables } from "../routes/ingress-routes.ts";
import { type OwnAndOutbound, sidecarParts, sortedListeners } from "../sidecar.ts";
import { type HttpListenerOptions, httpListener } from "./http-listener.ts";
import type { MixerService } from "./mixer.ts";

/**
 * LDS: what a node listens on; `null` for routers, which get nothing over v1.
 * @see docs/how-istio-does-it/legacy-v1.md#listeners
 * @see docs/how-istio-does-it/legacy-v1.md#ingress
 */
export function listenersDocument(
  world: LegacyMesh,
  node: NodeId,
  instances: readonly LegacyInstance[],
  memo: Memo = noMemo,
): LdsDocument {
  switch (node.type) {
    case "sidecar":
      return { listeners: sidecarListeners(sidecarParts(world, node, instances, memo)) };
    case "ingress":
      return { listeners: ingressListeners(world, node) };
    case "router":
      return { listeners: world.v1alpha3 === undefined ? null : gatewayListeners(world, world.v1alpha3, node) };
  }
}

const sidecarListeners = (parts: OwnAndOutbound): readonly Listener[] =>
  sortedListeners(parts).flatMap((item) =>
    "address" in item ? item : parts.outbound.listeners.slice(item[0], item[1]),
  );

/** Port 80 always, port 443 as soon as one rule has a certificate: there is one for all of them. */
function ingressListeners(world: LegacyMesh, node: NodeId): readonly Listener[] {
  const options: HttpListenerOptions = {
    ip: "0.0.0.0",
    port: 80,
    routes: "80",
    outbound: false,
    operation: "egress",
    useRemoteAddress: true,
    services: ingressServices(world),
    policy: undefined,
    faults: [],
    bindToPort: true,
  };
  const plain = httpListener(options, world, node);
  if (!ingressTables(world, node).hasTls) return [plain];
  const { bind_to_port, ...head } = httpListener({ ...options, port: 443, routes: "443" }, world, node);
  const certificates = "/etc/istio/ingress-certs";
  return [
    plain,
    {
      ...head,
      ssl_context: {
        cert_chain_file: `${certificates}/tls.crt`,
        private_key_file: `${certificates}/tls.key`,
        require_client_certificate: false,
        alpn_protocols: "h2,http/1.1",
      },
      bind_to_port,
    },
  ];
}

/** The service of the ingress proxy itself, found by its name. */
function ingressServices(world: LegacyMesh): readonly MixerService[] {
  // Release 0.7 knew the name by itself, and took a part of it.
  const prefix = world.v1alpha3 === undefined ? `${world.mesh.ingressService}.` : "istio-ingress";
  const service = world.services.find(({ hostname }) => hostname.startsWith(prefix));
  return service === undefined ? [] : [{ service, labels: {} }];
}
