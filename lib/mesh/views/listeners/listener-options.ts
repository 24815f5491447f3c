import { internValue } from "../../../incremental/keep-identity.ts";
import type { Memo } from "../../../incremental/memo.ts";
import { serviceKey } from "../../../registry/changes/registry-state.ts";
import type { Mesh } from "../../mesh.ts";
import { isFlagSet, numberOf, textOf } from "../../proxy/node-metadata.ts";
import type { SidecarScope } from "../../scope/sidecar-scope.ts";
import type { ProxyAnswers } from "../proxies/proxy-answers.ts";
import type { ListenerOptions } from "../views.ts";
import { headlessServices } from "./listener-lookups.ts";

export function listenerOptionsOf(mesh: Pick<Mesh, "form">, node: ProxyAnswers, memo: Memo): ListenerOptions {
  return internValue(memo, {
    fetchesKeySets: !mesh.form.keySetsLeftToControlPlane,
    http10: isFlagSet(node.metadata("HTTP10")),
    httpProxyPort: numberOf(node.metadata("HTTP_PROXY_PORT")),
    idleTimeout: textOf(node.metadata("IDLE_TIMEOUT")),
    inboundExactBalance: isFlagSet(node.metadata("INBOUND_LISTENER_EXACT_BALANCE")),
    outboundExactBalance: isFlagSet(node.metadata("OUTBOUND_LISTENER_EXACT_BALANCE")),
    prometheusPort: numberOf(node.metadata("ENVOY_PROMETHEUS_PORT")),
    statusPort: numberOf(node.metadata("ENVOY_STATUS_PORT")),
    tlsServerFiles: tlsFilesOf(node, "TLS_SERVER"),
    unprivilegedPod: isFlagSet(node.metadata("UNPRIVILEGED_POD")),
  });
}

/** Files of a proxy's own certificates that are set, by metadata key. */
export function tlsFilesOf(node: ProxyAnswers, prefix: "TLS_SERVER" | "TLS_CLIENT"): Readonly<Record<string, string>> {
  const keys = ["CERT_CHAIN", "KEY", "ROOT_CERT"].map((part) => `${prefix}_${part}`);
  const files = keys.map((key): [string, string] => [key, textOf(node.metadata(key))]);
  return Object.fromEntries(files.filter(([, file]) => file !== ""));
}

/**
 * A sidecar's addresses that its outbound listeners leave out: those of its own among the endpoints of headless services
 * with ports that are not HTTP. Leaving them out makes a class per pod.
 */
export function ownAddressesFor(mesh: Mesh, node: ProxyAnswers, scope: SidecarScope, memo: Memo): readonly string[] {
  if (!mesh.form.ownHeadlessAddressLeftOut) return none;
  const headless = headlessServices(scope, memo);
  if (headless.length === 0) return none;
  const { addresses } = node;
  const served = headless.some((service) =>
    mesh.registry.endpoints
      .get(serviceKey(service))
      ?.some((endpoint) => endpoint.addresses.some((address) => addresses.includes(address))),
  );
  return served ? addresses : none;
}

const none: readonly [] = [];
