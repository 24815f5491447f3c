import { describe, expect, it } from "vitest";
import { versionOf } from "../../../lib/cli/config/served-version.ts";

describe("the version of a source that a root has an object from", () => {
  const sources = [
    { name: "main", version: "newest", configuration: "held" },
    { name: "later", version: "first", configuration: "" },
    { name: "other", version: "only" },
  ];
  it.each([
    ["VirtualService/shop/web", "main", "held"],
    ["Gateway.gateway.networking.k8s.io/shop/web", "main", "held"],
    ["Ingress/shop/web", "main", "held"],
    ["ServiceEntry/shop/web", "main", "newest"],
    ["EndpointSlice/shop/web", "main", "newest"],
    ["Deployment.apps/shop/web", "main", "newest"],
    ["VirtualService/shop/web", "later", undefined],
    ["Pod/shop/web", "later", "first"],
    ["VirtualService/shop/web", "other", "only"],
    ["VirtualService/shop/web", "none", undefined],
  ])("of %s in %s is %s", (key, source, version) => {
    expect(versionOf(sources, source, key)).toBe(version);
  });
});
