import { describe, expect, it } from "vitest";
import { kindsAskedFor, readSourceAddress } from "../../lib/mcp/source-address.ts";

describe("the address of a config source", () => {
  it.each([
    ["xds://nacos:18848", { protocol: "xds", authority: "nacos:18848" }],
    ["mcp://nacos:18848", { protocol: "resources", authority: "nacos:18848" }],
    ["galley.istio-system.svc:9901", { protocol: "resources", authority: "galley.istio-system.svc:9901" }],
    ["[::1]:9901", { protocol: "resources", authority: "[::1]:9901" }],
    ["fs:///etc/mesh", { protocol: "folder" }],
    ["k8s://", { protocol: "kubernetes" }],
    ["http://nacos:18848", undefined],
    ["nacos", undefined],
    ["nacos:99999", undefined],
    ["xds://nacos:1/path", undefined],
  ])("%s is read as %j", (address, want) => {
    expect(readSourceAddress(address)).toEqual(want);
  });

  it("asks for services alone where the mesh's settings say so", () => {
    expect(kindsAskedFor({ address: "xds://a:1", subscribedResources: ["SERVICE_REGISTRY"] })).toEqual([
      "ServiceEntry",
    ]);
    expect(kindsAskedFor({ address: "xds://a:1" })).toBeUndefined();
  });
});
