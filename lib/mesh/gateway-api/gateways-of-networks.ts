import type { Config } from "../../config/config.ts";
import type { KubernetesGateway } from "../../config/gateway-api/gateway.ts";
import { internValue } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { NetworkGateway } from "../../registry/changes/registry-state.ts";
import { networkLabel } from "../../registry/labels.ts";
import type { Service } from "../../registry/service.ts";
import { isAutoPassthrough } from "./listeners/listener-tls.ts";

interface Inputs {
  readonly gateways: readonly Config<KubernetesGateway>[];
  readonly services: readonly Service[];
  /** The cluster whose objects the Gateways are. */
  readonly clusterId: string;
}

/**
 * Gateways between networks that Gateways stand for: one for each address and each listener that passes connections between networks on.
 * A host name that is a service's in this mesh names what the Gateway's workloads are, and not how it is reached from outside: that is in
 * the service's own addresses.
 *
 * @see istio 1.30.3 pilot/pkg/serviceregistry/kube/controller/network.go, handleGatewayResource
 */
export const gatewaysOfNetworks = query(
  "Gateways between networks",
  ({ gateways, services, clusterId }: Inputs, memo: Memo): readonly NetworkGateway[] => {
    const between = gateways.filter(({ meta, spec }) => (meta.labels[networkLabel] ?? "") !== "" && spec.addresses);
    if (between.length === 0) return internValue<readonly NetworkGateway[]>(memo, []);
    const hosts = new Set(services.map(({ hostname }) => hostname));
    const isService = (value: string, { namespace, domain }: Config["meta"]): boolean =>
      hosts.has(value) || hosts.has(`${value}.${namespace}.svc.${domain}`);
    const found = between.flatMap(({ meta, spec: { addresses = [], listeners } }) =>
      addresses
        .filter(({ type, value = "" }) => {
          if (value === "") return false;
          return type === "IPAddress" || (type === "Hostname" && !isService(value, meta));
        })
        .flatMap(({ value = "" }) =>
          listeners
            .filter(({ port, tls }) => tls !== undefined && isAutoPassthrough(port, tls, meta.labels))
            .map(({ port }) => ({ network: meta.labels[networkLabel] ?? "", clusterId, address: value, port })),
        ),
    );
    return internValue(memo, found);
  },
);
