import type { Config } from "../../config/config.ts";
import type { KubernetesGateway, ListenerSet } from "../../config/gateway-api/gateway.ts";
import type { GatewayStatus, ListenerStatus } from "../../config/gateway-api/status/status.ts";
import { query } from "../../incremental/query.ts";
import { trackedQuery } from "../../incremental/tracked-query.ts";
import type { ReleaseRules } from "../release-rules.ts";
import { conditions, type Draft } from "./conditions.ts";
import type { MadeGateway, MadeListenerSet } from "./gateway.ts";
import { type AddressSource, type GatewayAddresses, gatewayAddresses, reportedAddresses } from "./gateway-addresses.ts";
import type { MadeListener } from "./listeners/listener.ts";
import { isInsecure } from "./listeners/listener-tls.ts";
import { generationOf, type ObjectStatus, objectStatus } from "./object-status.ts";
import { type Problem, problem } from "./problem.ts";

/** What the status of a Gateway or ListenerSet tells of beside what it became. */
export interface StatusSource extends AddressSource {
  /** How many routes are attached to a listener. */
  attachedRoutes(namespace: string, name: string, listener: string): number;
}

interface GatewayInputs {
  readonly made: MadeGateway;
  readonly reportsListeners: ReleaseRules["reportsListenersOnGateways"];
  /** Those that the Gateway takes. */
  readonly listenerSets: readonly MadeListenerSet[];
}

/** @see istio 1.30.3 pilot/pkg/config/kube/gateway/conversion.go, reportGatewayStatus */
export const gatewayStatus = trackedQuery(
  "status of a gateway of the Gateway API",
  ({ made, listenerSets, reportsListeners }: GatewayInputs, source: StatusSource): ObjectStatus => {
    const { config, services, references } = made;
    const added = listenerSets.flatMap(({ listeners }) => listeners).filter(({ isAttachable }) => isAttachable);
    const all = [...made.listeners.filter(({ hasServer }) => hasServer), ...added];
    const place = placeOf(made, all, source);
    const addresses = reportedAddresses(place, config.meta.annotations);
    const status: GatewayStatus = {
      ...(addresses.length === 0 ? {} : { addresses }),
      ...(listenerSets.length === 0 ? {} : { attachedListenerSets: listenerSets.length }),
      conditions: [
        // A Gateway has these two from its beginning.
        ...conditions(generationOf(config), {
          Accepted: reportsListeners ? acceptedByListeners(made) : { ...accepted, problem: services.problem },
          Programmed: programmed(place, services.hosts),
        }),
        ...conditions(generationOf(config), {
          ...(isInsecure(config.spec.tls) ? { InsecureFrontendValidationMode: insecure } : {}),
          ...(reportsListeners ? { ResolvedRefs: { ...resolved, problem: references.clientCertificate } } : {}),
        }),
      ],
      ...listenersOf(config, made.listeners, source),
    };
    return objectStatus(config, status);
  },
);

const accepted: Draft = { reason: "Accepted", message: "Resource accepted" };
const resolved: Draft = { reason: "ResolvedRefs", message: "All references resolved" };

/** A Gateway is refused if no listener is valid, and tells if some are not. */
function acceptedByListeners({ config, services, references, listeners }: MadeGateway): Draft {
  const wrong = services.problem ?? references.parameters;
  if (wrong !== undefined) return { ...accepted, problem: wrong };
  const valid = listeners.filter(({ isValid }) => isValid).length;
  if (valid === config.spec.listeners.length) return accepted;
  return valid === 0
    ? { ...accepted, problem: problem(notValid, "None of the Gateway's listeners are valid") }
    : { reason: notValid, message: "One or more of the Gateway's listeners are invalid" };
}

const notValid = "ListenersNotValid";

const insecure: Draft = {
  reason: "ConfigurationChanged",
  message: "Gateway is operating in AllowInsecureFallback mode for frontend validation",
};

function placeOf(
  { config, services }: MadeGateway,
  listeners: readonly MadeListener[],
  source: AddressSource,
): GatewayAddresses {
  const ports = listeners.map(({ parent }) => parent.port);
  return gatewayAddresses(config.meta.namespace, services.hosts, ports, source);
}

function programmed(place: GatewayAddresses, hosts: readonly string[]): Draft {
  const { internal } = place;
  const message =
    internal.length === 0
      ? "Resource programmed"
      : `Resource programmed, assigned to service(s) ${readableList(internal)}`;
  return { reason: "Programmed", message, problem: placeProblem(place, hosts) };
}

function placeProblem(
  { internal, warnings, isUsable }: GatewayAddresses,
  hosts: readonly string[],
): Problem | undefined {
  if (hosts.length === 0) return problem("UnsupportedAddress", "Failed to assign to any requested addresses");
  if (warnings.length === 0) return undefined;
  const failed =
    internal.length === 0
      ? "Failed to assign to any requested addresses"
      : `Assigned to service(s) ${readableList(internal)}, but failed to assign to all requested addresses`;
  return problem(isUsable ? "AddressNotAssigned" : "AddressNotUsable", `${failed}: ${warnings.join("; ")}`);
}

/** `a`, `a and b`, `a, b, and c`. */
function readableList(texts: readonly string[]): string {
  if (texts.length < 3) return texts.join(" and ");
  return `${texts.slice(0, -1).join(", ")}, and ${texts.at(-1)}`;
}

function listenersOf(
  config: Config<KubernetesGateway> | Config<ListenerSet>,
  listeners: readonly MadeListener[],
  source: StatusSource,
): { readonly listeners?: readonly ListenerStatus[] } {
  if (listeners.length === 0) return {};
  const { name, namespace } = config.meta;
  return {
    listeners: listeners.map(({ parent, supportedKinds, conditions: drafts }) => ({
      name: parent.section,
      attachedRoutes: source.attachedRoutes(namespace, name, parent.section),
      supportedKinds,
      conditions: conditions(generationOf(config), drafts),
    })),
  };
}

interface ListenerSetInputs {
  readonly made: MadeListenerSet;
  readonly reportsListeners: ReleaseRules["reportsListenersOnGateways"];
}

/** @see istio 1.30.3 pilot/pkg/config/kube/gateway/conversion.go, reportListenerSetStatus */
export const listenerSetStatus = trackedQuery(
  "status of a listener set of the Gateway API",
  ({ made, reportsListeners }: ListenerSetInputs, source: StatusSource): ObjectStatus => {
    const { config, gateway, isAllowed, listeners } = made;
    if (!isAllowed) return refusedListenerSet(config, notAllowed);
    const served = listeners.filter(({ hasServer }) => hasServer);
    const place = placeOf(gateway, served, source);
    const { problem: wrong } = gateway.services;
    // Of a Gateway without a place nothing is known of its listeners.
    const isRefused = reportsListeners && listeners.length > 0 && !served.some(({ isValid }) => isValid);
    const lost = isRefused ? problem(notValid, "None of the ListenerSet's listeners are valid") : undefined;
    const draft = programmed(place, gateway.services.hosts);
    const status: GatewayStatus = {
      conditions: conditions(generationOf(config), {
        Accepted: {
          ...accepted,
          problem: wrong === undefined ? lost : problem(wrong.reason, `Parent not accepted: ${wrong.message}`),
        },
        Programmed: { ...draft, problem: lost ?? draft.problem },
      }),
      ...listenersOf(config, listeners, source),
    };
    return objectStatus(config, status);
  },
);

const notAllowed = "The parent Gateway does not allow this reference; check the 'spec.allowedRoutes'";

function refusedListenerSet(config: Config<ListenerSet>, message: string): ObjectStatus {
  const wrong = problem("NotAllowed", message);
  const drafts = {
    Accepted: { reason: "Accepted", message: "", problem: wrong },
    Programmed: { reason: "Programmed", message: "", problem: wrong },
  };
  return objectStatus(config, { conditions: conditions(generationOf(config), drafts) });
}

/** Of a ListenerSet for a Gateway of another cluster. */
export const remoteListenerSetStatus = query(
  "status of a listener set of a remote gateway",
  ({ config, className }: { readonly config: Config<ListenerSet>; readonly className: string }): ObjectStatus =>
    refusedListenerSet(config, `The "${className}" GatewayClass does not support ListenerSet`),
);

/** Of a Gateway of another cluster. */
export const remoteGatewayStatus = query(
  "status of a remote gateway",
  ({ config }: { readonly config: Config<KubernetesGateway> }): ObjectStatus => {
    const addresses = (config.spec.addresses ?? []).map(({ type, value = "" }) => ({ type, value }));
    return objectStatus(config, {
      addresses,
      conditions: conditions(generationOf(config), {
        Accepted: { reason: "Accepted", message: "Resource accepted" },
        Programmed: { reason: "Programmed", message: "This Gateway is remote; Istio will not program it" },
      }),
    });
  },
);
