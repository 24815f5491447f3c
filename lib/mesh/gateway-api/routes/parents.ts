import { parentText } from "../../../config/gateway-api/parent-text.ts";
import type { ParentReference } from "../../../config/gateway-api/reference.ts";
import { hostsOverlap, isSubsetHost, isWildcard } from "../../../config/values/host-name.ts";
import type { RouteParent } from "../listeners/listener.ts";
import { type Problem, problem } from "../problem.ts";

/** What parents of routes may be looked up in; every answer is recorded (`lib/incremental/tracked-query.ts`). */
export interface ParentSource {
  /** The listeners of a Gateway or a ListenerSet; none where there is none of ours. The same list as long as it says the same. */
  listenersOf(kind: "Gateway" | "ListenerSet", namespace: string, name: string): readonly RouteParent[];
  hasService(namespace: string, name: string): boolean;
  /** Hosts of a ServiceEntry; undefined: there is none. */
  entryHosts(namespace: string, name: string): readonly string[] | undefined;
  /** TCPRoutes are kept as v1. */
  tcpRoutesAreStable(): boolean;
}

/** One thing that a reference of a route means: a listener, or a service whose callers the route is for. */
export interface AttachedParent {
  readonly ref: ParentReference;
  readonly kind: "Gateway" | "ListenerSet" | "Service" | "ServiceEntry";
  readonly parent: RouteParent;
  /** Why the route is not attached; undefined: it is. */
  readonly denial: Problem | undefined;
  /** Hosts of other listeners on its port, which take what they are more specific for. */
  readonly otherHosts: readonly string[];
  /** Hosts of the service whose callers are meant; absent: it is a listener. */
  readonly serviceHosts?: readonly string[];
}

const gatewayGroup = "gateway.networking.k8s.io";
const routeKinds = ["HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute"];
const noHosts: readonly string[] = [];

const mesh: RouteParent = {
  name: "mesh",
  allowedKinds: routeKinds.map((kind) => ({ group: gatewayGroup, kind })),
  hosts: [],
  hostname: "",
  section: "",
  port: 0,
  protocol: "",
};

/** A route, as far as parents ask for it. */
export interface AttachedRoute {
  readonly kind: string;
  readonly namespace: string;
  readonly domain: string;
  readonly hostnames: readonly string[];
  readonly parentRefs: readonly ParentReference[];
}

/**
 * Everything that the references of a route mean, allowed or not, in the order of the references' texts.
 * @see istio 1.30.3 pilot/pkg/config/kube/gateway/conversion.go, extractParentReferenceInfo
 */
export function attachedParents(route: AttachedRoute, source: ParentSource): readonly AttachedParent[] {
  const found = route.parentRefs.flatMap((ref) => parentsOfReference(ref, route, source));
  return found
    .map((parent) => ({ parent, text: parentText(parent.ref, route.namespace) }))
    .sort((a, b) => (a.text === b.text ? 0 : a.text < b.text ? -1 : 1))
    .map(({ parent }) => parent);
}

function parentsOfReference(
  ref: ParentReference,
  route: AttachedRoute,
  source: ParentSource,
): readonly AttachedParent[] {
  const { group, kind, name, namespace = route.namespace } = ref;
  switch (`${group}/${kind}`) {
    case `${gatewayGroup}/Gateway`:
    case `${gatewayGroup}/ListenerSet`: {
      const parentKind = kind === "Gateway" ? "Gateway" : "ListenerSet";
      const listeners = source.listenersOf(parentKind, namespace, name);
      return listeners.map((parent) => ({
        ref,
        kind: parentKind,
        parent,
        denial: listenerDenial(parent, ref, route) ?? kindDenial(parent, route, source),
        otherHosts: otherHosts(parent, listeners),
      }));
    }
    case "/Service": {
      const denial = source.hasService(namespace, name)
        ? undefined
        : problem("NoMatchingParent", `parent service: "${name}" not found`);
      const serviceHosts = [`${name}.${namespace}.svc.${route.domain}`];
      return [{ ref, kind: "Service", parent: mesh, denial, otherHosts: noHosts, serviceHosts }];
    }
    case "networking.istio.io/ServiceEntry": {
      const serviceHosts = source.entryHosts(namespace, name);
      const denial =
        serviceHosts === undefined
          ? problem("NoMatchingParent", `parent service entry: "${name}" not found`)
          : undefined;
      return [
        { ref, kind: "ServiceEntry", parent: mesh, denial, otherHosts: noHosts, serviceHosts: serviceHosts ?? noHosts },
      ];
    }
    default:
      // Somebody else's.
      return [];
  }
}

function listenerDenial(parent: RouteParent, ref: ParentReference, route: AttachedRoute): Problem | undefined {
  const { port, sectionName } = ref;
  if (port !== undefined && port !== parent.port) return problem("NoMatchingParent", `port ${port} not found`);
  if (sectionName !== undefined && sectionName !== parent.section) {
    return problem("NoMatchingParent", `sectionName "${sectionName}" not found`);
  }
  if (parent.hosts.length === 0) return undefined;
  const hostnames = route.hostnames.length === 0 ? ["*"] : route.hostnames;
  const fitting = parent.hosts.filter((host) => {
    const bare = host.slice(host.indexOf("/") + 1);
    return hostnames.some((hostname) => hostsOverlap(bare, hostname));
  });
  if (fitting.some((host) => isForNamespace(host, route.namespace))) return undefined;
  if (fitting.length === 0) {
    return problem("NoMatchingListenerHostname", `no hostnames matched parent hostname "${parent.hostname}"`);
  }
  const message = `hostnames matched parent hostname "${parent.hostname}", but namespace "${route.namespace}" is not allowed by the parent`;
  return problem("NotAllowedByListeners", message);
}

function isForNamespace(host: string, namespace: string): boolean {
  const slash = host.indexOf("/");
  const of = slash < 0 ? "*" : host.slice(0, slash);
  return of === "*" || of === namespace;
}

function kindDenial({ allowedKinds }: RouteParent, { kind }: AttachedRoute, source: ParentSource): Problem | undefined {
  if (allowedKinds.some((allowed) => allowed.kind === kind && allowed.group === gatewayGroup)) return undefined;
  // The version that Istio keeps the kind in.
  const version = kind === "TCPRoute" && !source.tcpRoutesAreStable() ? "v1alpha2" : "v1";
  return problem("NotAllowedByListeners", `kind ${gatewayGroup}/${version}/${kind} is not allowed`);
}

function otherHosts(parent: RouteParent, listeners: readonly RouteParent[]): readonly string[] {
  const hosts = listeners
    .filter((other) => other !== parent && other.port === parent.port && other.protocol === parent.protocol)
    .map(({ hostname }) => hostname);
  return [...new Set(hosts)].filter((host) => host !== parent.hostname);
}

/** Whether a host of a route is served at a listener, or at another one that is more specific for it. */
export function isServedAt({ parent, otherHosts: others }: AttachedParent, host: string): boolean {
  const own = parent.hostname;
  if (own !== "" && !isWildcard(own)) return true;
  if (own !== "" && !hostsOverlap(host, own)) return false;
  return !others.some((other) => own.length <= other.length && isSubsetHost(host, other));
}
