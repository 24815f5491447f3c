/** Many proxies' resources in one Envoy, which is asked whether it takes them. */
import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bootstrapOf } from "../../lib/agent/bootstrap.ts";
import type { Resource } from "../../lib/xds/resource.ts";
import type { WholeResources } from "../whole-resources.ts";
import { envoyPath } from "./envoy.ts";

/** Clusters and listeners of many proxies, renamed so that they fit into one Envoy. */
export interface Crowd {
  readonly clusters: object[];
  readonly listeners: object[];
  readonly names: Set<string>;
  /** One element for each address that is taken. */
  readonly ports: number[];
}

export const newCrowd = (): Crowd => ({ clusters: [], listeners: [], names: new Set(), ports: [] });

const managerType =
  "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/** A listener that has a route table in it, so that Envoy reads the table. */
export function listenerAround(table: Resource): object {
  const router = { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" };
  const typedConfig = {
    "@type": managerType,
    statPrefix: "table",
    // Tables may name clusters that are not there: requests are refused then, not the table.
    routeConfig: { ...table.json, validateClusters: false },
    httpFilters: [{ name: "envoy.filters.http.router", typedConfig: router }],
  };
  return { filterChains: [{ filters: [{ name: "envoy.filters.network.http_connection_manager", typedConfig }] }] };
}

const nextAddress = (crowd: Crowd) => ({
  socketAddress: { address: "127.0.0.1", portValue: 1024 + crowd.ports.push(0) },
});

/** Puts the resources of one proxy among those of the others, each listener on an address of its own. */
export function admit(crowd: Crowd, who: string, resources: WholeResources): void {
  for (const { name, json } of resources.clusters) {
    // The first of a name keeps it: tracers ask for their cluster by name.
    crowd.clusters.push(crowd.names.has(name) ? { ...json, name: `${who} ${name}` } : json);
    crowd.names.add(name);
  }
  const tables = resources.routes.map((table) => ({ name: table.name, json: listenerAround(table) }));
  for (const { name, json } of [...resources.listeners, ...tables]) {
    const more =
      "additionalAddresses" in json && Array.isArray(json.additionalAddresses) ? json.additionalAddresses : [];
    crowd.listeners.push({
      ...json,
      name: `${who} ${name}`,
      address: nextAddress(crowd),
      additionalAddresses: more.map(() => ({ address: nextAddress(crowd) })),
    });
  }
}

/** What Envoy says of them; "" when it takes all. */
export function complaint(crowd: Crowd): string {
  const directory = mkdtempSync(join(tmpdir(), "portolan-accepted-"));
  const server = { host: "127.0.0.1", port: 9 };
  const bootstrap = bootstrapOf({ nodeId: "n", nodeCluster: "c", metadata: {}, adminPort: 0, server });
  const clusters = [...(bootstrap.staticResources?.clusters ?? []), ...crowd.clusters];
  const file = join(directory, "bootstrap.json");
  writeFileSync(
    file,
    JSON.stringify({
      ...bootstrap,
      staticResources: { ...bootstrap.staticResources, clusters, listeners: crowd.listeners },
    }),
  );
  // Access logs go to /dev/stdout, which only opens if it is a file.
  const output = openSync(join(directory, "output"), "w");
  try {
    execFileSync(envoyPath(), ["--mode", "validate", "-c", file, "--reject-unknown-dynamic-fields", "-l", "error"], {
      stdio: ["ignore", output, output],
    });
    return "";
  } catch {
    return readFileSync(join(directory, "output"), "utf8") || "exited without a word";
  } finally {
    closeSync(output);
    rmSync(directory, { recursive: true, force: true });
  }
}
