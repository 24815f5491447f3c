import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kubernetesOrigin } from "../../lib/registry/kubernetes/api/kubernetes-origin.ts";
import { eventually } from "../e2e/envoy.ts";
import { HeldOrigin } from "../registry/kubernetes/held-origin.ts";
import { type ApiServer, openApiServer } from "./api-server.ts";
import { hasApiServer } from "./server-binaries.ts";

describe.skipIf(!hasApiServer())("a real API server", () => {
  let server: ApiServer;
  let origin: HeldOrigin;
  beforeAll(async () => {
    server = await openApiServer();
    origin = new HeldOrigin(kubernetesOrigin(server.client, { cluster: "Kubernetes" }));
  });
  afterAll(async () => {
    await origin.end();
    await server.close();
  });
  const waits = (holds: () => boolean) =>
    eventually(
      async () => holds(),
      (isSo) => isSo,
      30_000,
    );

  it("is read as a whole, by streamed lists, and followed", async () => {
    await waits(() => origin.isWhole());
    expect(origin.keys("Service")).toEqual(["Service/default/kubernetes"]);
    expect(origin.keys("Namespace")).toContain("Namespace//kube-system");
    expect(origin.told.filter((line) => line.startsWith("whole Service "))).toEqual(["whole Service 1"]);
    await server.ask("POST", "/api/v1/namespaces", { metadata: { name: "shop" } });
    await waits(() => origin.keys("Namespace").includes("Namespace//shop"));
    await server.ask("DELETE", "/api/v1/namespaces/shop");
  });

  it("may be killed and come back, and forget its history", async () => {
    await server.kill();
    await waits(() => origin.failures.size > 0);
    await server.start();
    await server.compact();
    await waits(() => origin.failures.size === 0);
    expect(origin.keys("Service")).toEqual(["Service/default/kubernetes"]);
    expect(origin.told.filter((line) => line.startsWith("gone Service"))).toEqual([]);
  });
});
