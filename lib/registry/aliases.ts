import { byCodePoint } from "../base/diagnostic.ts";
import type { Service, ServiceAttributes } from "./service.ts";

type Alias = ServiceAttributes["aliases"][number];

/** Follows aliases of aliases to the host that is none; undefined for a loop, which no resolver answers either. */
function concreteHost(host: string, targets: ReadonlyMap<string, string>): string | undefined {
  const seen = new Set([host]);
  let current = host;
  for (;;) {
    const next = targets.get(current);
    if (next === undefined) return current;
    if (seen.has(next)) return undefined;
    seen.add(next);
    current = next;
  }
}

/**
 * Host → the aliases (services of resolution Alias) that mean it in the end, sorted by namespace and host name.
 * A target is a bare host name, so its namespace plays no part.
 * @see docs/how-istio-does-it/services.md#aliases
 * @see istio 1.30.3 pilot/pkg/model/push_context.go
 */
export function aliasesByHost(services: readonly Service[]): ReadonlyMap<string, readonly Alias[]> {
  const targets = new Map<string, string>();
  const aliases = services.filter((service) => service.resolution === "Alias");
  for (const { hostname, attributes } of aliases) targets.set(hostname, attributes.externalName ?? "");
  const byHost = new Map<string, Alias[]>();
  for (const { hostname, attributes } of aliases) {
    const host = concreteHost(hostname, targets);
    if (host === undefined || host === hostname) continue;
    const list = byHost.get(host) ?? [];
    list.push({ hostname, namespace: attributes.namespace });
    byHost.set(host, list);
  }
  for (const list of byHost.values()) {
    list.sort((a, b) => byCodePoint(a.namespace, b.namespace) || byCodePoint(a.hostname, b.hostname));
  }
  return byHost;
}
