import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import picocolors from "picocolors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../../lib/cli/program.ts";
import { createCollector } from "../../../lib/collect/collector.ts";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import type { OriginObject } from "../../../lib/registry/origin/origin.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";
import { FakeOrigin, thing } from "../../collect/fake-origin.ts";

const rule = (name: string, version: string, subset: object): OriginObject => ({
  key: `DestinationRule/shop/${name}`,
  version,
  object: {
    apiVersion: "networking.istio.io/v1",
    kind: "DestinationRule",
    metadata: { name, namespace: "shop" },
    spec: { host: "reviews", subsets: [subset] },
  },
});

const policy = (name: string, version: string, operation: object): OriginObject => ({
  key: `AuthorizationPolicy/shop/${name}`,
  version,
  object: {
    apiVersion: "security.istio.io/v1",
    kind: "AuthorizationPolicy",
    metadata: { name, namespace: "shop" },
    spec: { action: "DENY", rules: [{ to: [{ operation: { ports: ["9080"], ...operation } }] }] },
  },
});

describe("portolan describe, of what a collector has brought", () => {
  let folder = "";
  const publish = async (...objects: readonly OriginObject[]) => {
    const store = fileStore(folder);
    const origin = new FakeOrigin();
    origin.which = "cluster 8d1f";
    const filled = createCollector({ store, source: "kubernetes", origin }).once();
    await origin.following;
    origin.whole("all", objects);
    await filled;
    await createRecompiler({ store })();
  };
  const described = async (...args: readonly string[]) => {
    const lines: string[] = [];
    const tell = (line: string) => void lines.push(line);
    const terminal = { out: tell, err: tell, colours: picocolors.createColors(false) };
    await runCli(["node", "portolan", "describe", ...args, "-n", "shop", "--store", folder], terminal);
    return lines.join("\n");
  };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "portolan-describe-"));
    const other = thing("reviews");
    await publish(other);
    await publish(other, rule("reviews", "7", { name: "v1", labels: { version: "v1" } }));
    await publish(other, rule("reviews", "9", { name: "v2", labels: { version: "v2" } }), thing("more"));
    const now = [other, rule("reviews", "9", { name: "v2", labels: { version: "v2" } }), rule("wrong", "11", {})];
    await publish(...now);
    await publish(...now, policy("kept", "12", { paths: ["/admin"] }));
    await publish(...now, policy("kept", "13", { path: ["/admin"] }), policy("closed", "14", { path: ["/admin"] }));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("shows the object, where it comes from, and with which versions it was published", async () => {
    const text = await described("dr", "reviews");
    expect(text).toMatch(/^DestinationRule\/shop\/reviews\n/);
    expect(text).toContain("version: v2");
    expect(text).toContain("comes from the cluster Kubernetes (cluster 8d1f), source kubernetes, version 9");
    const rows = text.split("\n").filter((line) => /^(GENERATION|\d)/.test(line));
    expect(rows.map((line) => line.split(/\s+/).filter((_, at) => at !== 1))).toEqual([
      ["GENERATION", "CHANGE", "VERSION"],
      ["3", "changed", "9"],
      ["2", "came", "7"],
    ]);
  });

  it("shows one that is not valid, with what is wrong, and that it is not served", async () => {
    const text = await described("dr", "wrong");
    expect(text).toMatch(
      /error cluster Kubernetes, namespace shop, resourceVersion 11 DestinationRule shop\/wrong: spec/,
    );
    expect(text).toContain("it is not valid; it is not served");
    const json = JSON.parse(await described("dr", "wrong", "--json"));
    expect(json).toMatchObject({ source: "kubernetes", history: [{ change: "came", version: "11" }] });
    expect(json.findings.length).toBeGreaterThan(0);
  });

  it.each([
    ["closed", "it is not valid; all requests to the workloads that it selects are denied until it is valid"],
    ["kept", "it is not valid; its last valid version is served"],
  ])("says of a policy that is refused what is served in its place: %s", async (name, text) => {
    expect(await described("authorizationpolicy", name)).toContain(text);
  });

  it("shows Kubernetes' own objects, too, and says where there is none", async () => {
    expect(await described("svc", "reviews")).toMatch(/1 +\S+ +came +1$/m);
    expect(await described("dr", "nothing")).toContain("there is no DestinationRule shop/nothing");
  });
});
