import { describe, expect, it } from "vitest";
import { classesFor } from "../../lib/agent/source/placement.ts";
import { type NodeClaims, project } from "../../lib/base/classifier.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { nodeOf, testFront } from "../front/fixtures.ts";
import { worldOf } from "../snapshot/worlds.ts";

const claimsOf = (app: string, metadata: object = {}): NodeClaims => {
  const node = nodeOf("web-1", { app });
  return { ...node, metadata: { ...node.metadata, ...metadata }, locality: "" };
};

async function classesIn(attributes: readonly string[], own: NodeClaims, asking: NodeClaims) {
  const classifier = {
    attributes,
    labels: { "*": { keys: ["app"] } },
    classes: {},
    defaults: { "sidecar/default": "fallback" },
  };
  const world = worldOf({ own: { clusters: { a: "1" } }, fallback: { clusters: { b: "1" } } });
  const { publish, store } = testFront();
  const classes = { [project(classifier, own) ?? ""]: "own" };
  await publish({ ...world, classifier: { ...classifier, classes }, nodes: [] });
  const reader = createSnapshotReader(store);
  const root = (await readHead(store, {}))?.head.steps[0]?.root ?? "";
  return classesFor(reader, await reader.root(root), asking);
}

describe("the classes that an agent believes", () => {
  it("are not the default for a node that has one of its own: a front that lies cannot lead it there", async () => {
    const attributes = ["namespace", "type"];
    expect(await classesIn(attributes, claimsOf("web"), claimsOf("web"))).toEqual(["own"]);
    expect(await classesIn(attributes, claimsOf("web"), claimsOf("other"))).toEqual(["fallback"]);
  });

  it("are the default too where the front may know of an account that the node does not name", async () => {
    const attributes = ["metadata:SERVICE_ACCOUNT", "namespace", "type"];
    expect(await classesIn(attributes, claimsOf("web"), claimsOf("web"))).toEqual(["own", "fallback"]);
    const named = claimsOf("web", { SERVICE_ACCOUNT: "web" });
    expect(await classesIn(attributes, named, named)).toEqual(["own"]);
  });
});
