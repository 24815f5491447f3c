import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { hostsOverlap } from "../../lib/config/values/host-name.ts";
import { parseNodeId } from "../../lib/legacy/node-id.ts";
import { parseServiceKey, serviceKey } from "../../lib/legacy/service-key.ts";
import { truncated } from "../../lib/v1/clusters/cluster-name.ts";
import { resolveHost } from "../../lib/v1/resolve-host.ts";
import { byPath, combinedPath } from "../../lib/v1/routes/ingress-routes.ts";
import { serviceDomains, sharedLabels } from "../../lib/v1/routes/outbound-routes.ts";
import { headerMatch, sortHeaders } from "../../lib/v1/routes/route-match.ts";
import { suite } from "./worlds.ts";

/** Tables that were recorded from release 0.8. */
function vectors(name: string) {
  return JSON.parse(readFileSync(new URL(`vectors/${name}.json`, suite), "utf8"));
}

interface Path {
  readonly path?: string;
  readonly prefix?: string;
}

describe("serviceKey", () => {
  const table: {
    readonly format: readonly {
      hostname: string;
      ports: string[] | null;
      labels: Record<string, string>[] | null;
      key: string;
    }[];
    readonly parse: readonly {
      key: string;
      hostname: string;
      ports: string[];
      labels: Record<string, string>[] | null;
    }[];
  } = vectors("service-keys");

  it.each(table.format)("writes $key", ({ hostname, ports, labels, key }) => {
    expect(serviceKey(hostname, ports ?? [], labels ?? [])).toBe(key);
  });

  it.each(table.parse)("reads $key", ({ key, hostname, ports, labels }) => {
    expect(parseServiceKey(key)).toEqual({ hostname, ports, labels: labels ?? undefined });
  });
});

describe("truncated", () => {
  const table: readonly { length: number; name: string; result: string }[] = vectors("cluster-name-truncation");
  it.each(table)("keeps a name of $length characters below 190", ({ name, result }) => {
    expect(truncated(name)).toBe(result);
  });
});

describe("parseNodeId", () => {
  const table: readonly ({ node: string } & (
    | { error: string }
    | { type: string; ip: string; id: string; domain: string }
  ))[] = vectors("node-id");
  it.each(table)("reads '$node'", ({ node, ...want }) => {
    expect(parseNodeId(node)).toMatchObject(want);
  });
});

describe("resolveHost", () => {
  const table: readonly {
    configNamespace: string;
    configDomain: string;
    service: Record<string, string>;
    hostname: string;
  }[] = vectors("resolve-hostname");
  it.each(table)("finds $hostname", ({ configNamespace, configDomain, service, hostname }) => {
    expect(resolveHost({ namespace: configNamespace, domain: configDomain }, service)).toBe(hostname);
  });
});

describe("serviceDomains", () => {
  const table: readonly {
    hostname: string;
    address: string;
    port: number;
    portName: string;
    proxyDomain: string;
    name: string;
    domains: string[];
  }[] = vectors("virtual-host-domains");
  it.each(table)(
    "lists what $hostname is called from $proxyDomain",
    ({ hostname, address, port, portName, proxyDomain, name, domains }) => {
      expect(serviceKey(hostname, [portName])).toBe(name);
      expect(serviceDomains({ hostname, address }, port, sharedLabels(hostname, proxyDomain))).toEqual(domains);
    },
  );

  it("takes a host that is a part of the proxy's own domain as shared as a whole", () => {
    expect(
      serviceDomains(
        { hostname: "cluster.local", address: "" },
        80,
        sharedLabels("cluster.local", "default.svc.cluster.local"),
      ),
    ).toEqual(["cluster:80", "cluster", "cluster.local:80", "cluster.local"]);
  });
});

describe("headerMatch", () => {
  const table: readonly { prefix: string; value: string; regex: boolean }[] = vectors("header-prefix-regex");
  it.each(table)("makes an expression of the prefix '$prefix'", ({ prefix, value, regex }) => {
    expect(headerMatch("name", { prefix })).toEqual({ name: "name", value, regex });
  });

  it("sorts by name, expressions first, then by value", () => {
    const { input, sorted } = vectors("header-order");
    expect(sortHeaders(input)).toEqual(sorted);
  });
});

describe("combinedPath", () => {
  const table: readonly { route: Path; ingress: Path; result: Path | null }[] = vectors("ingress-route-combination");
  it.each(table)("lets through what $ingress and $route have in common", ({ route, ingress, result }) => {
    expect(combinedPath(route, ingress) ?? null).toEqual(result);
  });

  it("sorts exact paths before prefixes, and the longer of two nested prefixes first", () => {
    const { input, sorted }: { input: Path[]; sorted: Path[] } = vectors("ingress-route-order");
    expect([...input].sort(byPath)).toEqual(sorted);
  });
});

describe("hostsOverlap", () => {
  const table: readonly { a: string; b: string; matches: boolean }[] = vectors("hostname-match");
  it.each(table)("of $a and $b is $matches", ({ a, b, matches }) => {
    expect(hostsOverlap(a, b)).toBe(matches);
  });
});
