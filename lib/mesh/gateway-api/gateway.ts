import type { Config } from "../../config/config.ts";
import type { KubernetesGateway, ListenerSet } from "../../config/gateway-api/gateway.ts";
import type { GatewayApiSettings } from "../../config/gateway-api/gateway-api-settings.ts";
import type { LabelSelector } from "../../config/kinds/selector.ts";
import { tracedStep } from "../memo/traced-step.ts";
import { type GatewayServices, gatewayServices } from "./gateway-services.ts";
import { type MadeListener, madeListener } from "./listener.ts";
import type { ListenerSource } from "./listener-source.ts";

/** A Gateway of a class of ours, with what its listeners become. */
export interface MadeGateway {
  readonly config: Config<KubernetesGateway>;
  readonly services: GatewayServices;
  readonly listeners: readonly MadeListener[];
}

interface GatewayInputs {
  readonly config: Config<KubernetesGateway>;
  readonly settings: GatewayApiSettings;
}

export const madeGateway = tracedStep(
  "gateway of the Gateway API",
  { config: "identity", settings: "value" },
  ({ config, settings }: GatewayInputs, source: ListenerSource): MadeGateway => {
    const services = gatewayServices(config);
    const context = {
      owner: config,
      gatewayTls: config.spec.tls,
      services: services.hosts,
      servicesNamespace: config.meta.namespace,
      settings,
    };
    // A gateway without a place is made nothing of.
    const isPlaced = services.hosts.length > 0 || services.problem === undefined;
    const listeners = isPlaced ? config.spec.listeners : [];
    return {
      config,
      services,
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

interface ListenerSetInputs {
  readonly config: Config<ListenerSet>;
  readonly gateway: MadeGateway;
  readonly settings: GatewayApiSettings;
}

export const madeListenerSet = tracedStep(
  "listener set of the Gateway API",
  { config: "identity", gateway: "identity", settings: "value" },
  ({ config, gateway, settings }: ListenerSetInputs, source: ListenerSource): MadeListenerSet => {
    const { namespace } = config.meta;
    const isAllowed = takesListeners(gateway.config, namespace, source);
    const { services } = gateway;
    const isPlaced = services.hosts.length > 0 || services.problem === undefined;
    const context = {
      owner: config,
      gatewayTls: gateway.config.spec.tls,
      services: services.hosts,
      servicesNamespace: gateway.config.meta.namespace,
      settings,
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

function takesListeners({ meta, spec }: Config<KubernetesGateway>, namespace: string, source: ListenerSource): boolean {
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
