import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { envoyFiles, maxWatchedFiles, putFiles } from "../../../lib/agent/files/envoy-files.ts";
import { leafPath } from "../../../lib/agent/files/leaf-path.ts";
import { heldResource, holdingOf, type WholeHoldings } from "../../../lib/agent/source/resources.ts";
import { type CoreType, typeUrlOf } from "../../../lib/snapshot/resource-type.ts";
import { createTreeEncoder } from "../../../lib/snapshot/worlds/encode-tree.ts";

const ads = { ads: {}, resourceApiVersion: "V3" };
const cluster = (name: string) => ({
  name,
  type: "EDS",
  edsClusterConfig: { edsConfig: ads, serviceName: `of-${name}` },
});
const listener = (name: string, table: string) => ({
  name,
  filterChains: [{ filters: [{ typedConfig: { rds: { configSource: ads, routeConfigName: table } } }] }],
});

function holdings(of: Partial<Readonly<Record<CoreType, Readonly<Record<string, object>>>>>): WholeHoldings {
  const encode = createTreeEncoder();
  const holding = (type: CoreType) =>
    holdingOf(
      Object.entries(of[type] ?? {}).map(([name, json]) =>
        heldResource(type, name, JSON.stringify({ "@type": typeUrlOf(type), ...json })),
      ),
      encode,
    );
  return {
    clusters: holding("clusters"),
    endpoints: holding("endpoints"),
    listeners: holding("listeners"),
    routes: holding("routes"),
  };
}

describe("files for an Envoy without an agent", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "portolan-files-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const made = (of: Parameters<typeof holdings>[0]) => envoyFiles(holdings(of), { folder, hasCertificateFiles: false });
  const resourcesOf = (text = "{}") => {
    const { resources = [] }: { readonly resources?: readonly Readonly<Record<string, unknown>>[] } = JSON.parse(text);
    return resources;
  };

  it("have endpoints within their clusters, so that thousands of clusters are one file to watch", () => {
    const many = Array.from({ length: 2_000 }, (_, at) => `c${at}`);
    const files = made({
      clusters: Object.fromEntries(many.map((name) => [name, cluster(name)])),
      endpoints: { "of-c7": { clusterName: "of-c7", endpoints: [{ priority: 1 }] } },
      listeners: { l: listener("l", "80") },
      routes: { 80: { name: "80" } },
    });
    expect([...files.keys()]).toEqual([leafPath("rds", "80"), "cds.json", "lds.json"]);
    const clusters = resourcesOf(files.get("cds.json"));
    expect(clusters).toHaveLength(many.length);
    expect(clusters.find(({ name }) => name === "c7")).toEqual({
      "@type": typeUrlOf("clusters"),
      name: "c7",
      type: "STATIC",
      loadAssignment: { clusterName: "of-c7", endpoints: [{ priority: 1 }] },
    });
    // Of which no endpoints are known.
    expect(clusters.find(({ name }) => name === "c8")).toMatchObject({ loadAssignment: { clusterName: "c8" } });
    expect(files.get("cds.json")).not.toContain('"ads"');
  });

  it("have one for the endpoints of the proxy's neighbours, whose cluster the bootstrap has", () => {
    const files = made({
      endpoints: { local_cluster: { clusterName: "local_cluster" }, other: { clusterName: "other" } },
    });
    expect(resourcesOf(files.get("local_cluster.json"))).toEqual([
      { "@type": typeUrlOf("endpoints"), clusterName: "local_cluster" },
    ]);
  });

  it("are refused where Envoy would have to watch more than it can, with what to do", () => {
    const tables = (count: number) => {
      const names = Array.from({ length: count }, (_, at) => `${8_000 + at}`);
      return {
        listeners: Object.fromEntries(names.map((name) => [`l${name}`, listener(`l${name}`, name)])),
        routes: Object.fromEntries(names.map((name) => [name, { name }])),
      };
    };
    expect(made(tables(maxWatchedFiles - 5)).size).toBe(maxWatchedFiles - 3);
    expect(() => made(tables(maxWatchedFiles - 4))).toThrow(
      /name 96 route tables.*watch 100 files.*fs\.inotify\.max_user_instances.*The files are left as they were.*without --once/,
    );
  });

  it("have an empty table for one that is named and does not exist", () => {
    const files = made({ listeners: { l: listener("l", "80") } });
    expect(resourcesOf(files.get(leafPath("rds", "80")))).toEqual([{ "@type": typeUrlOf("routes"), name: "80" }]);
  });

  it("take the place of those of before, and of what a killed agent has left", async () => {
    const first = { listeners: { l: listener("l", "80") }, routes: { 80: { name: "80" } } };
    await putFiles(folder, made(first));
    await writeFile(join(folder, "cds.json.1234.draft"), "half");
    await putFiles(folder, made({ listeners: { l: listener("l", "81") }, routes: { 81: { name: "81" } } }));
    expect((await readdir(folder)).toSorted()).toEqual(["cds.json", "lds.json", "rds"]);
    expect(await readdir(join(folder, "rds"))).toEqual([leafPath("rds", "81").slice("rds/".length)]);
    expect(await readFile(join(folder, "lds.json"), "utf8")).toContain(leafPath("rds", "81"));
  });
});
