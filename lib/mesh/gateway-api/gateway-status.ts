import type { Config } from "../../config/config.ts";
import type { KubernetesGateway, ListenerSet } from "../../config/gateway-api/gateway.ts";
import type { GatewayStatus, ListenerStatus } from "../../config/gateway-api/status/status.ts";
import { step } from "../memo/step.ts";
import { tracedStep } from "../memo/traced-step.ts";
import { conditions, type Draft } from "./conditions.ts";
import type { MadeGateway, MadeListenerSet } from "./gateway.ts";
import { type GatewayPlace, gatewayPlace, type PlaceSource, reportedAddresses } from "./gateway-place.ts";
import type { MadeListener } from "./listener.ts";
import { generationOf, type ObjectStatus, objectStatus } from "./object-status.ts";
import { type Problem, problem } from "./problem.ts";

/** What the status of a Gateway or ListenerSet tells of beside what it became. */
export interface StatusSource extends PlaceSource {
  /** How many routes are attached to a listener. */
  attachedRoutes(namespace: string, name: string, listener: string): number;
}

interface GatewayInputs {
  readonly made: MadeGateway;
  /** Those that the Gateway takes. */
  readonly listenerSets: readonly MadeListenerSet[];
}

/** @see istio 1.30.3 pilot/pkg/config/kube/gateway/conversion.go, reportGatewayStatus */
export const gatewayStatus = tracedStep(
  "status of a gateway of the Gateway API",
  { made: "identity", listenerSets: "identity" },
  ({ made, listenerSets }: GatewayInputs, source: StatusSource): ObjectStatus => {
    const { config, services } = made;
    const all = [made, ...listenerSets].flatMap(({ listeners }) => listeners);
    const place = placeOf(made, all, source);
    const addresses = reportedAddresses(place, config.meta.annotations);
    const status: GatewayStatus = {
      ...(addresses.length === 0 ? {} : { addresses }),
      ...(listenerSets.length === 0 ? {} : { attachedListenerSets: listenerSets.length }),
      conditions: conditions(generationOf(config), {
        Accepted: { reason: "Accepted", message: "Resource accepted", problem: services.problem },
        Programmed: programmed(place, services.hosts),
      }),
      ...listenersOf(config, made.listeners, source),
    };
    return objectStatus(config, status);
  },
);

function placeOf(
  { config, services }: MadeGateway,
  listeners: readonly MadeListener[],
  source: PlaceSource,
): GatewayPlace {
  const ports = listeners.map(({ parent }) => parent.port);
  return gatewayPlace(config.meta.namespace, services.hosts, ports, source);
}

function programmed(place: GatewayPlace, hosts: readonly string[]): Draft {
  const { internal } = place;
  const message =
    internal.length === 0
      ? "Resource programmed"
      : `Resource programmed, assigned to service(s) ${readableList(internal)}`;
  return { reason: "Programmed", message, problem: placeProblem(place, hosts) };
}

function placeProblem({ internal, warnings, isUsable }: GatewayPlace, hosts: readonly string[]): Problem | undefined {
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

/** @see istio 1.30.3 pilot/pkg/config/kube/gateway/conversion.go, reportListenerSetStatus */
export const listenerSetStatus = tracedStep(
  "status of a listener set of the Gateway API",
  { made: "identity" },
  ({ made }: { readonly made: MadeListenerSet }, source: StatusSource): ObjectStatus => {
    const { config, gateway, isAllowed, listeners } = made;
    if (!isAllowed) return refusedListenerSet(config, notAllowed);
    const place = placeOf(gateway, listeners, source);
    const { problem: wrong } = gateway.services;
    const status: GatewayStatus = {
      conditions: conditions(generationOf(config), {
        Accepted: {
          reason: "Accepted",
          message: "Resource accepted",
          problem: wrong && problem(wrong.reason, `Parent not accepted: ${wrong.message}`),
        },
        Programmed: programmed(place, gateway.services.hosts),
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
export const remoteListenerSetStatus = step(
  "status of a listener set of a remote gateway",
  { config: "identity", className: "value" },
  ({ config, className }: { readonly config: Config<ListenerSet>; readonly className: string }): ObjectStatus =>
    refusedListenerSet(config, `The "${className}" GatewayClass does not support ListenerSet`),
);

/** Of a Gateway of another cluster. */
export const remoteGatewayStatus = step(
  "status of a remote gateway",
  { config: "identity" },
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
