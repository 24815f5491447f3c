import type { Config } from "../../../config/config.ts";
import type { AllowedRoutes, Listener, RouteGroupKind } from "../../../config/gateway-api/gateway.ts";
import type { GatewayApiSettings } from "../../../config/gateway-api/gateway-api-settings.ts";
import type { Gateway } from "../../../config/kinds/gateway.ts";
import type { ReleaseRules } from "../../release-rules.ts";
import type { Draft, Drafts } from "../conditions.ts";
import type { GatewayServices } from "../gateway-services.ts";
import {
  gatewayNameOf,
  made,
  parentNamespaceAnnotation,
  parentsAnnotation,
  serviceAccountAnnotation,
  servicesAnnotation,
} from "../made-objects.ts";
import { type Problem, problem } from "../problem.ts";
import { type Conflicts, conflictOf } from "./listener-conflicts.ts";
import type { ListenerSource } from "./listener-source.ts";
import { type ListenerOwner, listenerProblem, listenerTls, type TlsContext } from "./listener-tls.ts";

const gatewayGroup = "gateway.networking.k8s.io";

/** A listener as routes see it: something that they can be attached to. */
export interface RouteParent {
  /** What virtual services call it: `mesh`, or `namespace/name` of a Gateway. */
  readonly name: string;
  readonly allowedKinds: readonly RouteGroupKind[];
  /** `namespace/host`, or a bare host for routes of every namespace; empty: any host. */
  readonly hosts: readonly string[];
  /** As written; "" for any. */
  readonly hostname: string;
  readonly section: string;
  readonly port: number;
  readonly protocol: string;
}

/** What becomes of one listener. */
export interface MadeListener {
  readonly gateway: Config<Gateway>;
  readonly parent: RouteParent;
  /** Without it nothing is served; routes are attached all the same. */
  readonly isValid: boolean;
  /** A server is made of it, valid or not. */
  readonly hasServer: boolean;
  /** Routes can be attached to it. */
  readonly isAttachable: boolean;
  readonly supportedKinds: readonly RouteGroupKind[];
  readonly conditions: Drafts;
}

/** What the listeners of one object have in common. */
export interface ListenerContext extends TlsContext {
  readonly owner: Config;
  /** In front of the gateway, and their namespace. */
  readonly services: GatewayServices;
  readonly servicesNamespace: string;
  readonly settings: GatewayApiSettings;
  readonly rules: ReleaseRules;
  readonly conflicts: Conflicts;
}

/** @see istio 1.30.3 pilot/pkg/config/kube/gateway/conversion.go, buildListener */
export function madeListener(
  listener: Listener,
  index: number,
  context: ListenerContext,
  source: ListenerSource,
): MadeListener {
  const { owner, rules } = context;
  const tls = listenerTls(listener, context, source);
  const isSet = owner.meta.kind === "ListenerSet";
  const hasNoTls = rules.needsTlsOfSecureListeners && isWithoutTls(listener);
  const unsupported =
    hasNoTls && isSet
      ? problem("UnsupportedProtocol", `protocol is ${listener.protocol} but no TLS section is defined`)
      : protocolProblem(listener.protocol, context);
  const filters = filterProblem(listener);
  const kinds = supportedKinds(listener);
  const conflict = conflictOf(listener.name, context.conflicts);
  const isValid = [tls.problem, unsupported, conflict, filters].every((one) => one === undefined);
  const hasServer = conflict === undefined && !hasNoTls;
  const hosts = listenerHosts(listener, owner, source);
  const gateway = made<Gateway>(owner, {
    kind: "Gateway",
    name: gatewayNameOf(owner.meta.name, listener.name),
    annotations: annotationsOf(listener, context),
    spec: {
      servers: [
        {
          port: {
            number: listener.port,
            protocol: unsupported === undefined ? listener.protocol : "",
            name: "default",
          },
          hosts,
          ...(tls.tls === undefined ? {} : { tls: tls.tls }),
        },
      ],
    },
    madeFrom: { "spec.servers.0": ["spec", "listeners", index], spec: ["spec"] },
  });
  return {
    gateway,
    parent: {
      name: `${owner.meta.namespace}/${gateway.meta.name}`,
      allowedKinds: kinds.kinds,
      hosts,
      hostname: listener.hostname ?? "",
      section: listener.name,
      port: listener.port,
      protocol: listener.protocol,
    },
    isValid,
    hasServer,
    isAttachable: hasServer && (isValid || !isSet || !rules.refusesConflictingListeners),
    supportedKinds: kinds.kinds,
    conditions: {
      ...(conflict === undefined
        ? listenerConditions({
            references: tls.problem,
            accepted: unsupported ?? filters ?? listenerProblem(tls.problem, rules),
            programmed:
              tls.problem !== undefined || (hasNoTls && isSet)
                ? problem("Invalid", "Bad TLS configuration")
                : filters && problem("Invalid", filters.message),
          })
        : conflictConditions(conflict)),
      ...(kinds.areAllSupported ? {} : { ResolvedRefs: unsupportedKinds }),
    },
  };
}

const isWithoutTls = ({ protocol, tls }: Listener): boolean =>
  tls === undefined && (protocol === "HTTPS" || protocol === "TLS");

function annotationsOf(
  { name }: Listener,
  { owner, services, servicesNamespace }: ListenerContext,
): Readonly<Record<string, string>> {
  const { meta } = owner;
  return {
    [servicesAnnotation]: services.hosts.join(","),
    ...(services.serviceAccount === undefined ? {} : { [serviceAccountAnnotation]: services.serviceAccount }),
    [parentsAnnotation]: `${meta.kind}/${meta.name}/${name}.${meta.namespace}`,
    ...(servicesNamespace === meta.namespace ? {} : { [parentNamespaceAnnotation]: servicesNamespace }),
  };
}

interface ListenerProblems {
  readonly references: Problem | undefined;
  readonly accepted: Problem | undefined;
  readonly programmed: Problem | undefined;
}

function listenerConditions({ references, accepted, programmed }: ListenerProblems): Drafts {
  const message = "No errors found";
  return {
    Accepted: { reason: "Accepted", message, problem: accepted },
    Conflicted: { reason: "NoConflicts", message, status: "False" },
    Programmed: {
      reason: "Programmed",
      message,
      problem: programmed,
    },
    ResolvedRefs: { reason: "ResolvedRefs", message, problem: references },
  };
}

const unsupportedKinds: Draft = { reason: "InvalidRouteKinds", message: "Invalid route kinds", status: "False" };

/** Of a listener that loses to another, nothing else is told. */
function conflictConditions(reason: Conflicts[string]): Drafts {
  const message = "Listener has a conflict with another listener attached to the same Gateway";
  const lost: Draft = { reason, message, status: "False" };
  return { Accepted: lost, Conflicted: { reason, message }, Programmed: lost };
}

/** What a filter was to keep out would come in without it: there is no listener then. */
function filterProblem({ filters }: Listener): Problem | undefined {
  if ((filters?.requests ?? []).length === 0) return undefined;
  return problem("UnsupportedValue", "filters of listeners are not supported; the listener is not served without them");
}

const protocols: ReadonlySet<string> = new Set(["HTTP", "HTTPS", "TLS", "TCP", "HBONE"]);

function protocolProblem(protocol: string, { settings, rules }: ListenerContext): Problem | undefined {
  const told = (message: string): Problem => problem("UnsupportedProtocol", `protocol "${protocol}" is ${message}`);
  if (protocol === "TCP" && !settings.alphaKinds && !rules.tcpRoutesAreStable) {
    return told("supported, but only when PILOT_ENABLE_ALPHA_GATEWAY_API=true is configured");
  }
  if (protocol === "HBONE") return told("only supported for waypoint proxies");
  if (protocols.has(protocol)) return undefined;
  const upper = protocol.toUpperCase();
  return told(protocols.has(upper) ? `unsupported. hint: "${upper}" (uppercase) may be supported` : "unsupported");
}

const kind = (name: string): RouteGroupKind => ({ group: gatewayGroup, kind: name });
const httpKinds = [kind("HTTPRoute"), kind("GRPCRoute")];

/** The kinds of routes that a listener takes, and whether all that it names are among those of its protocol. */
function supportedKinds({ protocol, tls, allowedRoutes }: Listener): {
  readonly kinds: readonly RouteGroupKind[];
  readonly areAllSupported: boolean;
} {
  const own = kindsOfProtocol(protocol, tls?.mode === "Terminate");
  const { kinds: named = [] } = allowedRoutes;
  if (named.length === 0) return { kinds: own, areAllSupported: true };
  const kinds = own.filter((one) => named.some((other) => other.kind === one.kind && other.group === one.group));
  return { kinds, areAllSupported: kinds.length === named.length };
}

function kindsOfProtocol(protocol: string, endsTls: boolean): readonly RouteGroupKind[] {
  switch (protocol) {
    case "HTTP":
    case "HTTPS":
      return httpKinds;
    case "TCP":
      return [kind("TCPRoute")];
    case "TLS":
      return endsTls ? [kind("TLSRoute"), kind("TCPRoute")] : [kind("TLSRoute")];
    default:
      return [];
  }
}

/** Hosts of a listener, each for the routes of one namespace; `~` is no namespace at all. */
function listenerHosts(
  { hostname = "*", allowedRoutes }: Listener,
  { meta }: ListenerOwner,
  source: ListenerSource,
): readonly string[] {
  const namespaces = namespacesOf(allowedRoutes, meta.namespace, source);
  return namespaces.length === 0 ? [`~/${hostname}`] : namespaces.map((namespace) => `${namespace}/${hostname}`);
}

function namespacesOf(
  { namespaces: { from, selector } }: AllowedRoutes,
  own: string,
  source: ListenerSource,
): readonly string[] {
  if (from === "Same") return [own];
  if (from === "All" || selector === undefined) return ["*"];
  return source.namespacesOf(selector);
}
