import { describe, expect, it } from "vitest";
import { withTopology } from "../../lib/registry/labels.ts";

const topology = { clusterId: "Kubernetes", locality: "north/a", nodeName: "node-1", network: "" };

describe("withTopology", () => {
  it("lays what is known over the labels, and leaves out what is not", () => {
    expect(withTopology({ app: "web", "kubernetes.io/hostname": "other" }, topology)).toEqual({
      app: "web",
      "kubernetes.io/hostname": "node-1",
      "topology.istio.io/cluster": "Kubernetes",
      "topology.kubernetes.io/region": "north",
      "topology.kubernetes.io/zone": "a",
    });
  });

  it("gives the same object back where the labels say all of it already", () => {
    const labels = withTopology({ app: "web" }, topology);
    expect(withTopology(labels, topology)).toBe(labels);
  });
});
