import { hostOfBackend, type KubernetesBackend, portOfBackend } from "../../../config/gateway-api/backend.ts";
import type { BackendObjectReference } from "../../../config/gateway-api/reference.ts";
import type { Destination } from "../../../config/kinds/virtual-service.ts";
import type { GrantSource } from "../grants.ts";
import { type Problem, problem } from "../problem.ts";

/** What the rules of routes may ask of the rest of the world; every answer is recorded (`lib/incremental/tracked-query.ts`). */
export interface BackendSource extends GrantSource {
  /** Whether there is a service of Kubernetes. */
  hasService(namespace: string, name: string): boolean;
  /** Whether XBackends count. */
  readsBackends(): boolean;
  /** What an XBackend says; undefined: there is none. */
  backend(namespace: string, name: string): KubernetesBackend | undefined;
  /** Whether a namespace has a service of a host, of whatever registry. */
  hasHost(namespace: string, hostname: string): boolean;
  /** What a rule of an HTTPRoute without backends is answered with. */
  statusWithoutBackends(): 404 | 500;
}

/** A rule of a route that is translated: where it stands, and whom it asks. */
export interface RuleContext {
  /** `HTTPRoute`. */
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly domain: string;
  /** A route of the mesh: its backends need no grants. */
  readonly isMesh: boolean;
  readonly source: BackendSource;
}

/** Where a reference leads. */
export type Backend =
  | { readonly kind: "found"; readonly destination: Destination }
  /** It leads nowhere, so that its share of the requests is answered with 500; the rest of the route stands. */
  | { readonly kind: "lost"; readonly destination: Destination; readonly problem: Problem }
  /** It is no reference: the whole route is refused. */
  | { readonly kind: "refused"; readonly problem: Problem };

const nowhere: Destination = { host: "" };

/** @see istio 1.30.3 pilot/pkg/config/kube/gateway/conversion.go, buildDestination */
export function backendOf(ref: BackendObjectReference, context: RuleContext): Backend {
  const { group, kind, name, namespace = context.namespace } = ref;
  if (!context.isMesh && namespace !== context.namespace) {
    const { source } = context;
    if (!source.isGranted(context.kind, context.namespace, group, kind, namespace, name)) {
      const message = `backendRef ${name}/${namespace} not accessible to a ${context.kind} in namespace "${context.namespace}" (missing a ReferenceGrant?)`;
      return { kind: "lost", destination: nowhere, problem: problem("RefNotPermitted", message) };
    }
  }
  switch (`${group}/${kind}`) {
    case "/Service":
      if (name.includes(".")) {
        return refused("service name invalid; the name of the Service must be used, not the hostname.");
      }
      return atService(ref, namespace, context);
    case "multicluster.x-k8s.io/ServiceImport":
      // Names of services are those of all clusters, so an import is the service of its name.
      return atService(ref, namespace, context);
    case "networking.istio.io/Hostname":
      if (ref.namespace !== undefined) return refused("namespace may not be set with Hostname type");
      return placed(ref, name, context.source.hasHost(namespace, name));
    case "gateway.networking.x-k8s.io/XBackend":
      return atBackend(ref, namespace, context.source);
    case "inference.networking.k8s.io/InferencePool": {
      const message =
        "InferencePool is not enabled. To enable, set ENABLE_GATEWAY_API_INFERENCE_EXTENSION to true in istiod";
      return { kind: "lost", destination: nowhere, problem: problem("InvalidKind", message) };
    }
    default:
      return unsupported(ref);
  }
}

function unsupported({ group, kind }: BackendObjectReference): Backend {
  const message = `referencing unsupported backendRef: group "${group}" kind "${kind}"`;
  return { kind: "lost", destination: nowhere, problem: problem("InvalidKind", message) };
}

const refused = (message: string): Backend => ({ kind: "refused", problem: problem("InvalidDestination", message) });

function atService(ref: BackendObjectReference, namespace: string, { domain, source }: RuleContext): Backend {
  return placed(ref, `${ref.name}.${namespace}.svc.${domain}`, source.hasService(namespace, ref.name));
}

/** @see https://github.com/istio/istio/blob/86c9f01fd735/pilot/pkg/config/kube/gateway/conversion.go */
function atBackend(ref: BackendObjectReference, namespace: string, source: BackendSource): Backend {
  const { name, port } = ref;
  const lost = (reason: string, message: string, destination = nowhere): Backend => ({
    kind: "lost",
    destination,
    problem: problem(reason, message),
  });
  if (!source.readsBackends()) return unsupported(ref);
  const backend = source.backend(namespace, name);
  if (backend === undefined) return lost("BackendNotFound", `backend(${name}) not found`);
  const host = hostOfBackend(backend, { name, namespace });
  const number = portOfBackend(backend);
  if (port !== undefined && port !== number) {
    const message = `backend(${name}) does not expose port ${port}, expected ${number}`;
    return lost("BackendNotFound", message);
  }
  const destination = { host, port: { number } };
  if (source.hasHost(namespace, host)) return { kind: "found", destination };
  return lost("BackendNotFound", `backend(${host}) not found`, destination);
}

function placed({ port }: BackendObjectReference, host: string, isThere: boolean): Backend {
  if (port === undefined) return refused("port is required in backendRef");
  const destination = { host, port: { number: port } };
  if (isThere) return { kind: "found", destination };
  return { kind: "lost", destination, problem: problem("BackendNotFound", `backend(${host}) not found`) };
}

/** Several backends of one rule: those with a weight, in their order. */
export interface Backends<Ref> {
  readonly kind: "backends";
  readonly parts: readonly { readonly ref: Ref; readonly destination: Destination; readonly weight: number }[];
  /** Of the last one that leads nowhere. */
  readonly problem: Problem | undefined;
}

/** @returns the problem of a backend for which the whole route is refused */
export function backendsOf<Ref extends BackendObjectReference & { readonly weight: number }>(
  refs: readonly Ref[],
  context: RuleContext,
): Backends<Ref> | { readonly kind: "refused"; readonly problem: Problem } {
  const weighted = refs.filter(({ weight }) => weight !== 0);
  const parts: { readonly ref: Ref; readonly destination: Destination; readonly weight: number }[] = [];
  let lost: Problem | undefined;
  for (const ref of weighted) {
    const backend = backendOf(ref, context);
    if (backend.kind === "refused") return backend;
    if (backend.kind === "lost") lost = backend.problem;
    // One alone has no weight: it takes everything.
    parts.push({ ref, destination: backend.destination, weight: weighted.length === 1 ? 0 : ref.weight });
  }
  return { kind: "backends", parts, problem: lost };
}

/** All backends of a rule together have this weight. */
export const weightOf = (refs: readonly { readonly weight: number }[]): number =>
  refs.reduce((sum, { weight }) => sum + weight, 0);
