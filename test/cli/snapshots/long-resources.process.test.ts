import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import picocolors from "picocolors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderSource } from "../../../lib/agent/source/folder-source.ts";
import type { WholeHoldings } from "../../../lib/agent/source/resources.ts";
import { placedNode, resourcesOf } from "../../../lib/cli/snapshots/class-resources.ts";
import { newestRoot, readHead } from "../../../lib/snapshot/head/head.ts";
import { createSnapshotReader } from "../../../lib/snapshot/reader/snapshot-reader.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";
import { syntheticMesh } from "../../bench/synthetic-mesh.ts";
import { registerSnapshots } from "./snapshot-commands.ts";

let folder = "";
const store = () => join(folder, "store");
const node = "app-0-0.team-0";

async function run(...args: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const terminal = { out: (line: string) => lines.push(line), err: () => {}, colours: picocolors.createColors(false) };
  const program = new Command("portolan").exitOverride().configureOutput({ writeErr: () => {} });
  registerSnapshots(program, terminal);
  await program.parseAsync(["node", "portolan", ...args, "--store", store()]);
  return lines.join("\n");
}

/** What the root in force has for a class, and the route tables that are long. */
async function ofNode() {
  const objects = fileStore(store());
  const reader = createSnapshotReader(objects);
  const head = (await readHead(objects))?.head;
  const loaded = await reader.root(head === undefined ? "" : newestRoot(head));
  const { classId } = await placedNode(reader, loaded, node);
  const tree = await reader.tree(loaded.root, "routes", loaded.classes.get(classId)?.stream.routes);
  const long = tree.segments.filter((segment) => segment.long !== undefined).map(({ first }) => first);
  const routes = await resourcesOf(reader, loaded, { classId, shape: "stream" }, ["routes"]);
  return { long, routes };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-long-"));
  await mkdir(join(folder, "mesh"));
  await writeFile(join(folder, "mesh", "input.yaml"), syntheticMesh(200).text);
  await run("push", join(folder, "mesh"));
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A mesh of some hundred services has route tables that lie in the store in runs, and have no blob of their own. */
describe("a table that is stored in runs", () => {
  it("is among what a class has, with its text and what it was made from", async () => {
    const { long, routes } = await ofNode();
    expect(long).toContain("80");
    const table = routes.find(({ name }) => name === "80");
    const { virtualHosts }: { readonly virtualHosts: readonly object[] } = JSON.parse(table?.text ?? "{}");
    expect(virtualHosts.length).toBeGreaterThan(100);
    expect(table?.from.length).toBeGreaterThan(100);
  });

  it("is explained down to the host", async () => {
    const told = await run("explain", "80", "--node", node, "--host", "app-5.team-0.svc.cluster.local");
    expect(told).toContain("VirtualService/team-0/app-5");
  });

  it("is named among what an object touches", async () => {
    const told = await run("impact", "VirtualService/team-0/app-5");
    expect(told).toContain("80");
  });

  it("reaches an agent that reads a folder", async () => {
    const { routes } = await ofNode();
    const held = await new Promise<WholeHoldings>((resolve, reject) => {
      const source = folderSource({
        folder: store(),
        node: { id: `sidecar~10.0.0.1~${node}~team-0.svc.cluster.local`, cluster: "", metadata: {} },
        generation: { check: () => {}, keep: async () => {} },
        types: ["clusters", "endpoints", "listeners", "routes"],
      });
      source.start({
        changed: (holdings) => {
          source.close();
          resolve(holdings);
        },
        reached: () => {},
        trouble: reject,
      });
    });
    expect(held.routes?.resources.get("80")?.text).toBe(routes.find(({ name }) => name === "80")?.text);
  });
});
