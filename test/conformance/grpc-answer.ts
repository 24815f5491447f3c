import type { Memo } from "../../lib/incremental/memo.ts";
import type { GrpcViews } from "../../lib/mesh/views/grpc-views.ts";
import { generateEndpoints } from "../../lib/xds/endpoints/generate-endpoints.ts";
import { namedServerListeners } from "../../lib/xds/grpc/listeners.ts";
import { grpcTables } from "../../lib/xds/grpc/route-tables.ts";
import { targetNames } from "../../lib/xds/grpc/target-names.ts";
import { parseServerListenerName } from "../../lib/xds/names.ts";
import { allShared, type Resource, type ResourceType } from "../../lib/xds/resource.ts";
import type { WholeResources } from "../whole-resources.ts";

/** One request of a program: `requests.json` lists them in the order in which they are sent. */
export interface GrpcRequest {
  readonly type: ResourceType;
  readonly names: readonly string[];
}

/** What a request is made from: all that the class holds, and the views for names that no class holds. */
interface Asked {
  readonly held: WholeResources;
  readonly views: GrpcViews;
}

/**
 * What Istio answers to a request, made of what a class holds. A server of ours answers with the resources of the names asked for, which
 * is all that a program takes of it.
 */
export function grpcAnswer({ type, names }: GrpcRequest, asked: Asked, memo: Memo): readonly Resource[] {
  const { held, views } = asked;
  switch (type) {
    case "listeners":
      return listeners(names, asked, memo);
    case "routes":
      return grpcTables(views.routes, names, memo).value;
    case "clusters":
      return held.clusters.filter(({ name }) => names.includes(name));
    case "endpoints": {
      // Whatever is asked for is answered, also by who has no cluster for it.
      const clusters = names.map(
        (name) => ({ name, json: { type: "EDS", edsClusterConfig: { serviceName: name } }, from: [] }) as const,
      );
      return generateEndpoints(views.endpoints, allShared(clusters), memo).shared;
    }
    case "extension_configs":
    case "name_tables":
      // Programs have none.
      return [];
  }
}

/** The spellings of a host that are asked for share their ports, of which a name without one means all. */
function listeners(names: readonly string[], { held, views }: Asked, memo: Memo): readonly Resource[] {
  const view = views.listeners;
  const { services } = view.scope;
  if (names.length === 0) {
    const all = services.flatMap(({ hostname, ports }) => ports.map(({ port }) => `${hostname}:${port}`));
    return held.listeners.filter(({ name }) => all.includes(name));
  }
  const targets = names.filter((name) => parseServerListenerName(name) === undefined).map(targetOf);
  const wanted = new Set(
    services.flatMap(({ hostname, ports }) => {
      const spellings = targetNames(hostname, view.proxy);
      const meant = targets.filter(({ host }) => spellings.includes(host));
      const all = meant.some(({ port }) => port === undefined);
      const asked = ports.filter(({ port }) => all || meant.some((target) => target.port === String(port)));
      return meant.flatMap(({ host }) => asked.map(({ port }) => `${host}:${port}`));
    }),
  );
  const found = held.listeners.filter(({ name }) => wanted.has(name));
  return [...found, ...namedServerListeners(view, names, memo).value];
}

function targetOf(name: string): { readonly host: string; readonly port: string | undefined } {
  const match = /^([^:]+):([^:]*)$/.exec(name);
  return match === null ? { host: name, port: undefined } : { host: match[1] ?? "", port: match[2] };
}
