import type { Diagnostic } from "../config/diagnostic.ts";
import type { Controller, Registry, ServiceDiscovery } from "./discovery.ts";
import { mergeServices } from "./merge-services.ts";
import type { ProxyQuery } from "./proxy-query.ts";
import type { Service } from "./service.ts";

/** Several registries as one. */
export interface Aggregate extends ServiceDiscovery, Controller {
  /** Kubernetes registries first, in the order given (the primary first), then the others in theirs. */
  readonly members: readonly Registry[];
  /** One for each member whose answers are old, or that has none at all. */
  health(): readonly Diagnostic[];
}

function inOrder(members: readonly Registry[]): readonly Registry[] {
  const [clusters, others] = [
    members.filter(({ provider }) => provider === "Kubernetes"),
    members.filter(({ provider }) => provider !== "Kubernetes"),
  ];
  return [...clusters, ...others];
}

/** Equal hosts of several clusters become one service; those of other registries stand beside each other. */
function mergedServices(members: readonly Registry[]): readonly Service[] {
  const byHost = new Map<string, Service[]>();
  const others: Service[] = [];
  for (const member of members) {
    if (member.provider !== "Kubernetes") {
      others.push(...member.services());
      continue;
    }
    for (const service of member.services()) {
      const known = byHost.get(service.hostname);
      if (known === undefined) byHost.set(service.hostname, [service]);
      else known.push(service);
    }
  }
  const merged = [...byHost.values()].flatMap(([first, ...more]) =>
    first === undefined ? [] : [mergeServices([first, ...more])],
  );
  return [...merged, ...others];
}

/** The members that may know a proxy: not the clusters that it says it is not in. */
function membersFor(members: readonly Registry[], proxy: ProxyQuery): readonly Registry[] {
  return members.filter(
    ({ provider, clusterId }) => provider !== "Kubernetes" || proxy.clusterId === "" || clusterId === proxy.clusterId,
  );
}

function staleness(member: Registry): readonly Diagnostic[] {
  const { status, reason } = member.health();
  if (status === "fresh") return [];
  const name = member.clusterId === "" ? member.provider : `${member.provider}/${member.clusterId}`;
  return [
    {
      code: status === "stale" ? "registry-stale" : "registry-unread",
      severity: status === "stale" ? "warning" : "error",
      origin: { key: { group: "", kind: "Registry", name, namespace: "" }, file: name, line: 0 },
      path: [],
      message:
        status === "stale"
          ? `${name} cannot be read; its last content is still used: ${reason}`
          : `${name} was not read yet${reason === "" ? "" : `: ${reason}`}`,
      hint: "check that the registry is up and that its credentials are valid",
    },
  ];
}

/**
 * Joins registries. A member that fails keeps answering with its last good state, and `health` says so; one that was
 * never read is not taken for an empty one.
 * @see docs/how-istio-does-it/services.md#several-registries-as-one
 */
export function createAggregate(registries: readonly Registry[]): Aggregate {
  const members = inOrder(registries);
  let seen: readonly (readonly Service[])[] = [];
  let merged: readonly Service[] = [];
  const services = (): readonly Service[] => {
    const now = members.map((member) => member.services());
    if (now.length !== seen.length || now.some((list, at) => list !== seen[at])) {
      seen = now;
      merged = mergedServices(members);
    }
    return merged;
  };
  return {
    members,
    services,
    service(hostname) {
      const hits: Service[] = [];
      for (const member of members) {
        const hit = member.service(hostname);
        if (hit === undefined) continue;
        if (member.provider !== "Kubernetes") return hit;
        hits.push(hit);
      }
      const [first, ...more] = hits;
      return first === undefined ? undefined : mergeServices([first, ...more]);
    },
    instancesByPort: (service, port, labels) =>
      members.flatMap((member) => member.instancesByPort(service, port, labels)),
    proxyServiceInstances: (proxy) =>
      membersFor(members, proxy).flatMap((member) => member.proxyServiceInstances(proxy)),
    proxyWorkloadLabels(proxy) {
      for (const member of membersFor(members, proxy)) {
        const labels = member.proxyWorkloadLabels(proxy);
        if (labels.length > 0) return labels;
      }
      return [];
    },
    appendServiceHandler: (handler) => {
      for (const member of members) member.appendServiceHandler(handler);
    },
    appendInstanceHandler: (handler) => {
      for (const member of members) member.appendInstanceHandler(handler);
    },
    async run(signal) {
      await Promise.all(members.map((member) => member.run(signal)));
    },
    health: () => members.flatMap(staleness),
  };
}
