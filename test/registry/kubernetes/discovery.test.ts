import { describe, expect, it } from "vitest";
import { createDiscovery } from "../../../lib/registry/kubernetes/api/discovery.ts";
import { otherKinds } from "../../../lib/registry/kubernetes/api/read-kinds.ts";
import { jsonResponse } from "./fake-api-server.ts";

/** A server with resources by the paths of their groups and versions. */
function serverWith(plurals: Readonly<Record<string, readonly string[]>>) {
  const asked: string[] = [];
  const fetch = async (url: string): Promise<Response> => {
    const { pathname } = new URL(url);
    asked.push(pathname);
    const names = plurals[pathname];
    if (names !== undefined) {
      return jsonResponse({ kind: "APIResourceList", resources: names.map((name) => ({ name })) });
    }
    const versions = Object.keys(plurals).filter((path) => path.startsWith(`${pathname}/`));
    if (versions.length === 0) return new Response("404 page not found\n", { status: 404 });
    return jsonResponse({ kind: "APIGroup", versions: versions.map((path) => ({ version: path.split("/").at(-1) })) });
  };
  const find = createDiscovery({ baseUrl: "http://api.test", fetch }, () => 0);
  return {
    asked,
    find: (kind: string) => {
      const read = otherKinds.find((one) => one.kind === kind);
      if (read === undefined) throw new Error(`${kind} is not read`);
      return find(read, new AbortController().signal);
    },
  };
}

describe("a kind that a server has in versions alone that are not known", () => {
  const server = () =>
    serverWith({
      "/apis/security.istio.io/v3": ["authorizationpolicies"],
      "/apis/networking.istio.io/v1": ["virtualservices"],
      "/apis/networking.istio.io/v9": ["sidecars", "workloadentries"],
    });

  it("is no absent one where it protects something", async () => {
    await expect(server().find("AuthorizationPolicy")).rejects.toThrow(
      /authorizationpolicies\.security\.istio\.io only in version v3, .*\(known: v1, v1beta1\)/,
    );
    await expect(server().find("Sidecar")).rejects.toThrow("only in version v9");
  });

  it("is absent where it protects nothing, or no version has it", async () => {
    const { find, asked } = server();
    expect(await find("WorkloadEntry")).toBeUndefined();
    expect(asked).not.toContain("/apis/networking.istio.io");
    expect(await find("PeerAuthentication")).toBeUndefined();
    expect(await find("EnvoyFilter")).toBeUndefined();
    expect(await find("VirtualService")).toMatchObject({ apiVersion: "networking.istio.io/v1" });
  });
});
