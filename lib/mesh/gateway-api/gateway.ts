import type { Config } from "../../config/config.ts";
import type { KubernetesGateway, ListenerSet } from "../../config/gateway-api/gateway.ts";
import type { GatewayApiSettings } from "../../config/gateway-api/gateway-api-settings.ts";
import type { LabelSelector } from "../../config/kinds/selector.ts";
import { trackedQuery } from "../../incremental/tracked-query.ts";
import type { ReleaseRules } from "../release-rules.ts";
import { type GatewayReferences, gatewayReferences } from "./gateway-references.ts";
import { type GatewayServices, gatewayServices } from "./gateway-services.ts";
import { type MadeListener, madeListener } from "./listeners/listener.ts";
import type { Conflicts } from "./listeners/listener-conflicts.ts";
import type { ListenerSource } from "./listeners/listener-source.ts";

/** A Gateway of a class of ours, with what its listeners become. */
export interface MadeGateway {
  readonly config: Config<KubernetesGateway>;
  readonly services: GatewayServices;
  readonly listeners: readonly MadeListener[];
  /** What is wrong with what it refers to itself. */
  readonly references: GatewayReferences;
}

interface GatewayInputs {
  readonly config: Config<KubernetesGateway>;
  readonly settings: GatewayApiSettings;
  readonly rules: ReleaseRules;
  readonly conflicts: Conflicts;
}

export const madeGateway = trackedQuery(
  "gateway of the Gateway API",
  { settings: "value", conflicts: "value" },
  ({ config, settings, rules, conflicts }: GatewayInputs, source: ListenerSource): MadeGateway => {
    const services = gatewayServices(config);
    const context = {
      owner: config,
      gatewayTls: config.spec.tls,
      services,
      servicesNamespace: config.meta.namespace,
      settings,
      rules,
      conflicts,
    };
    // A gateway without a place is made nothing of.
    const isPlaced = services.hosts.length > 0 || services.problem === undefined;
    const listeners = isPlaced ? config.spec.listeners : [];
    return {
      config,
      services,
      references: gatewayReferences(config, source),
      listeners: listeners.map((listener, index) => madeListener(listener, index, context, source)),
    };
  },
);

/** A ListenerSet that is part of a Gateway of ours, or is refused by it. */
export interface MadeListenerSet {
  readonly config: Config<ListenerSet>;
  readonly gateway: MadeGateway;
  /** The Gateway takes listeners from its namespace. */
  readonly isAllowed: boolean;
  readonly listeners: readonly MadeListener[];
}

interface ListenerSetInputs extends Omit<GatewayInputs, "config"> {
  readonly config: Config<ListenerSet>;
  readonly gateway: MadeGateway;
}

export const madeListenerSet = trackedQuery(
  "listener set of the Gateway API",
  { settings: "value", conflicts: "value" },
  ({ config, gateway, settings, rules, conflicts }: ListenerSetInputs, source: ListenerSource): MadeListenerSet => {
    const { namespace } = config.meta;
    const isAllowed = takesListeners(gateway.config, namespace, source);
    const { services } = gateway;
    const isPlaced = services.hosts.length > 0 || services.problem === undefined;
    const context = {
      owner: config,
      gatewayTls: gateway.config.spec.tls,
      services,
      servicesNamespace: gateway.config.meta.namespace,
      settings,
      rules,
      conflicts,
    };
    const listeners = isAllowed && isPlaced ? config.spec.listeners : [];
    return {
      config,
      gateway,
      isAllowed,
      listeners: listeners.map((listener, index) => madeListener(listener, index, context, source)),
    };
  },
);

/** Whether a Gateway takes listeners from ListenerSets of a namespace. */
export function takesListeners(
  { meta, spec }: Config<KubernetesGateway>,
  namespace: string,
  source: ListenerSource,
): boolean {
  const allowed = spec.allowedListeners?.namespaces;
  switch (allowed?.from) {
    case "All":
      return true;
    case "Same":
      return namespace === meta.namespace;
    case "Selector":
      return isPicked(namespace, allowed.selector, source);
    default:
      return false;
  }
}

const isPicked = (namespace: string, selector: LabelSelector | undefined, source: ListenerSource): boolean =>
  selector !== undefined && source.namespacesOf(selector).includes(namespace);
