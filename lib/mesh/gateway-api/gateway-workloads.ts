import type { Config } from "../../config/config.ts";
import type { GatewayClass, KubernetesGateway } from "../../config/gateway-api/gateway.ts";
import type { GatewayApiSettings } from "../../config/gateway-api/gateway-api-settings.ts";
import type { Labels } from "../../config/values/labels.ts";
import { internValue } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { Service } from "../../registry/service.ts";
import { classOwners } from "./classes.ts";
import { gatewayServices } from "./gateway-services.ts";

/** Workloads that a service selects. */
export interface SelectedWorkloads {
  readonly namespace: string;
  readonly selector: Labels;
}

interface WorkloadInputs {
  readonly gateways: readonly Config<KubernetesGateway>[];
  readonly classes: readonly Config<GatewayClass>[];
  readonly services: readonly Service[];
  readonly settings: GatewayApiSettings;
}

/** The workloads behind the services of Gateways of ours: they are gateways. */
export const gatewayWorkloads = query(
  "workloads of the Gateway API's gateways",
  { settings: "value" },
  ({ gateways, classes, services, settings }: WorkloadInputs, memo: Memo): readonly SelectedWorkloads[] => {
    const ownerOf = classOwners(classes, settings);
    const named = new Set(
      gateways
        .filter(({ spec }) => ownerOf(spec.gatewayClassName) === "ours")
        .flatMap((gateway) => gatewayServices(gateway).hosts.map((host) => `${gateway.meta.namespace}/${host}`)),
    );
    const selected = services.flatMap(({ hostname, attributes: { namespace, selector } }) =>
      selector !== undefined && named.has(`${namespace}/${hostname}`) ? [{ namespace, selector }] : [],
    );
    return internValue(memo, selected);
  },
);
