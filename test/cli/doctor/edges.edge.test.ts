import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readFolder } from "../../../lib/config/folder/folder.ts";
import { type Edge, lambdaEdge, workerdEdge } from "../../e2e/edges.ts";
import { eventually } from "../../e2e/envoy.ts";
import { runPortolan } from "../run-portolan.ts";
import { doctor, gateway, samples } from "./deployments.ts";

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

/** What the deployment pages say to do, on functions as they are deployed. */
describe.each([
  ["Workers in workerd", "cloudflare", () => workerdEdge()],
  ["Lambda's bundles", "lambda", () => lambdaEdge()],
] as const)("portolan doctor over %s", (_name, _kind, open: () => Promise<Edge>) => {
  it("passes after a push, with the bootstrap that is written for it", async () => {
    const edge = await open();
    closing.push(() => edge.close());
    const folder = await mkdtemp(join(tmpdir(), "portolan-doctor-"));
    closing.push(() => rm(folder, { recursive: true, force: true }));
    const { url = "", caFile = "" } = edge.platform ?? {};
    const before = await doctor(url, "--ca", caFile);
    expect(before.said("head")).toBe("failed: the store has no HEAD: nothing was published yet");

    const pushed = await edge.post("/sources/main", JSON.stringify({ files: await readFolder(samples) }));
    expect(pushed.status).toBe(200);
    // A front that has seen no HEAD looks for one again after a second.
    const health = async () => (await fetch(`${edge.frontUrl}/healthz`)).status;
    await eventually(health, (status) => status === 200);
    const at = ["--server", url, "--ca", caFile];
    const written = await runPortolan("bootstrap", gateway, "--dir", samples, ...at, "--out", folder);
    expect(written.code).toBe(0);
    const found = await doctor(url, "--ca", caFile, "--bootstrap", join(folder, "envoy.yaml"), "--timeout", "9");
    expect(found.checks.filter(({ status }) => status === "failed")).toEqual([]);
    expect([found.code, found.statuses["poll clusters"]]).toEqual([0, "passed"]);
    expect(found.said("host")).toContain("which the bootstrap's Envoy asks for, is served");
    expect(found.said("hold")).toMatch(/^passed: polls are /);
  }, 240_000);
});
