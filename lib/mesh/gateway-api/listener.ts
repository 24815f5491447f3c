import type { Config } from "../../config/config.ts";
import type { AllowedRoutes, GatewayTLS, Listener, RouteGroupKind } from "../../config/gateway-api/gateway.ts";
import type { GatewayApiSettings } from "../../config/gateway-api/gateway-api-settings.ts";
import type { Gateway } from "../../config/kinds/gateway.ts";
import type { Drafts } from "./conditions.ts";
import type { ListenerSource } from "./listener-source.ts";
import { type ListenerOwner, listenerTls } from "./listener-tls.ts";
import {
  gatewayNameOf,
  made,
  parentNamespaceAnnotation,
  parentsAnnotation,
  servicesAnnotation,
} from "./made-objects.ts";
import { type Problem, problem } from "./problem.ts";

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
  readonly supportedKinds: readonly RouteGroupKind[];
  readonly conditions: Drafts;
}

/** What the listeners of one object have in common. */
export interface ListenerContext {
  readonly owner: Config;
  readonly gatewayTls: GatewayTLS | undefined;
  /** Host names of the services in front of the gateway, and their namespace. */
  readonly services: readonly string[];
  readonly servicesNamespace: string;
  readonly settings: GatewayApiSettings;
}

/** @see istio 1.30.3 pilot/pkg/config/kube/gateway/conversion.go, buildListener */
export function madeListener(
  listener: Listener,
  index: number,
  context: ListenerContext,
  source: ListenerSource,
): MadeListener {
  const { owner, gatewayTls, settings } = context;
  const tls = listenerTls(listener, gatewayTls, owner, source);
  const unsupported = protocolProblem(listener.protocol, settings);
  const kinds = supportedKinds(listener);
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
    isValid: tls.problem === undefined && unsupported === undefined,
    supportedKinds: kinds.kinds,
    conditions: listenerConditions(tls.problem, unsupported, kinds.areAllSupported),
  };
}

function annotationsOf(
  { name }: Listener,
  { owner, services, servicesNamespace }: ListenerContext,
): Readonly<Record<string, string>> {
  const { meta } = owner;
  return {
    [servicesAnnotation]: services.join(","),
    [parentsAnnotation]: `${meta.kind}/${meta.name}/${name}.${meta.namespace}`,
    ...(servicesNamespace === meta.namespace ? {} : { [parentNamespaceAnnotation]: servicesNamespace }),
  };
}

function listenerConditions(
  tls: Problem | undefined,
  unsupported: Problem | undefined,
  areKindsSupported: boolean,
): Drafts {
  const message = "No errors found";
  return {
    Accepted: { reason: "Accepted", message, problem: unsupported },
    Conflicted: { reason: "NoConflicts", message, status: "False" },
    Programmed: {
      reason: "Programmed",
      message,
      problem: tls === undefined ? undefined : problem("Invalid", "Bad TLS configuration"),
    },
    ResolvedRefs: areKindsSupported
      ? { reason: "ResolvedRefs", message, problem: tls }
      : { reason: "InvalidRouteKinds", message: "Invalid route kinds", status: "False" },
  };
}

const protocols: ReadonlySet<string> = new Set(["HTTP", "HTTPS", "TLS", "TCP", "HBONE"]);

function protocolProblem(protocol: string, { alphaKinds }: GatewayApiSettings): Problem | undefined {
  const told = (message: string): Problem => problem("UnsupportedProtocol", `protocol "${protocol}" is ${message}`);
  if (protocol === "TCP" && !alphaKinds) {
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
