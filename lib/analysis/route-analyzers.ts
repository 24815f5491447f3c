import { nearestName } from "../base/nearest-name.ts";
import type { Config } from "../config/config.ts";
import type { Path } from "../config/finding.ts";
import type { HTTPRouteFilter } from "../config/gateway-api/http-route.ts";
import type { BackendObjectReference, ParentReference } from "../config/gateway-api/reference.ts";
import { gatewayGroup } from "../config/gateway-api/schema/references.ts";
import type { Analysis } from "./analysis-input.ts";
import { type Analyzer, notFound } from "./analyzer.ts";

const routeKinds = ["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute"].map((kind) => `${kind}.${gatewayGroup}`);

/** What routes of every kind have in common here. */
interface RouteRules {
  readonly parentRefs?: readonly ParentReference[];
  readonly rules?: readonly {
    readonly backendRefs?: readonly BackendObjectReference[];
    readonly filters?: readonly HTTPRouteFilter[];
  }[];
}

interface NamedBackend {
  readonly ref: BackendObjectReference;
  readonly path: Path;
}

/** Every backend that a route sends requests to, mirrors included. */
function* backendsOf({ rules = [] }: RouteRules): Generator<NamedBackend> {
  for (const [index, { backendRefs = [], filters = [] }] of rules.entries()) {
    const path = ["spec", "rules", index];
    for (const [at, ref] of backendRefs.entries()) yield { ref, path: [...path, "backendRefs", at] };
    for (const [at, { requestMirror }] of filters.entries()) {
      if (requestMirror === undefined) continue;
      yield { ref: requestMirror.backendRef, path: [...path, "filters", at, "requestMirror", "backendRef"] };
    }
  }
}

/** The host of a backend; undefined for one of a kind that is no host. */
function hostOf({ group, kind, name, namespace }: BackendObjectReference, own: string): string | undefined {
  if (group === "" && kind === "Service") return `${name}.${namespace ?? own}.svc.cluster.local`;
  return group === "networking.istio.io" && kind === "Hostname" ? name : undefined;
}

/** That a backend is there at all is said by the route's status, which does not look at ports. */
const backendPorts: Analyzer = {
  name: "gatewayapi.BackendPortAnalyzer",
  about: "backends of the Gateway API's routes name a port that their service has",
  *analyze({ hosts, ofKind }: Analysis) {
    for (const config of routeKinds.flatMap((kind): readonly Config<RouteRules>[] => ofKind<RouteRules>(kind))) {
      const { namespace } = config.meta;
      for (const { ref, path } of backendsOf(config.spec)) {
        const host = hostOf(ref, namespace);
        const ports = host === undefined ? [] : (hosts.find(host, namespace)?.ports ?? []);
        if (ref.port === undefined || ports.length === 0 || ports.includes(ref.port)) continue;
        yield notFound(config, [...path, "port"], "host:port", `${host}:${ref.port}`);
      }
    }
  },
};

/** Of a gateway that is not there no status speaks, and the route goes nowhere without a word. */
const parents: Analyzer = {
  name: "gatewayapi.ParentAnalyzer",
  about: "routes of the Gateway API name gateways that are there",
  *analyze({ ofKind }: Analysis) {
    const gateways = ofKind(`Gateway.${gatewayGroup}`).map(({ meta }) => `${meta.namespace}/${meta.name}`);
    const known = new Set(gateways);
    for (const config of routeKinds.flatMap((kind): readonly Config<RouteRules>[] => ofKind<RouteRules>(kind))) {
      for (const [at, { group, kind, name, namespace }] of (config.spec.parentRefs ?? []).entries()) {
        const parent = `${namespace ?? config.meta.namespace}/${name}`;
        if (group !== gatewayGroup || kind !== "Gateway" || known.has(parent)) continue;
        const meant = nearestName(parent, gateways);
        yield {
          ...notFound(config, ["spec", "parentRefs", at, "name"], "parent", parent),
          hint: meant === undefined ? "" : `did you mean ${meant}?`,
        };
      }
    }
  },
};

export const routeAnalyzers: readonly Analyzer[] = [backendPorts, parents];
