import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fieldsOf, textOf } from "../../lib/base/untyped.ts";
import { kubernetesOrigin } from "../../lib/registry/kubernetes/api/kubernetes-origin.ts";
import { eventually } from "../e2e/envoy.ts";
import { HeldOrigin } from "../registry/kubernetes/held-origin.ts";
import { type ApiServer, collectorToken, createObject, openApiServer } from "./api-server.ts";
import { installIstioKinds } from "./custom-resources.ts";
import { type CutProxy, openCutProxy } from "./cut-proxy.ts";
import { manifests } from "./live-shop.ts";
import { hasApiServer, type KubernetesVersion } from "./server-binaries.ts";

/** What holds for an API server of every version. */
export function describeApiServer(version: KubernetesVersion): void {
  describe.skipIf(!hasApiServer(version))(`a real API server of Kubernetes ${version}`, { timeout: 180_000 }, () => {
    let server: ApiServer;
    let line: CutProxy;
    let origin: HeldOrigin;
    beforeAll(async () => {
      server = await openApiServer([], version);
      await installIstioKinds(server);
      line = await openCutProxy(Number(new URL(server.url).port));
      const client = { ...server.client, baseUrl: `https://127.0.0.1:${line.port}` };
      origin = new HeldOrigin(kubernetesOrigin(client, { cluster: "Kubernetes" }));
    });
    afterAll(async () => {
      await origin.end();
      await line.close();
      await server.close();
    });
    const waits = (holds: () => boolean) =>
      eventually(
        async () => holds(),
        (isSo) => isSo,
        60_000,
      );
    const wholes = (part: string) => origin.told.filter((line) => line.startsWith(`whole ${part} `)).length;

    it("is read as a whole, by streamed lists, and followed", async () => {
      await waits(() => origin.isWhole());
      expect(origin.keys("Service")).toEqual(["Service/default/kubernetes"]);
      expect(origin.keys("Namespace")).toContain("Namespace//kube-system");
      expect(wholes("Service")).toBe(1);
      await server.ask("POST", "/api/v1/namespaces", { metadata: { name: "shop" } });
      await waits(() => origin.keys("Namespace").includes("Namespace//shop"));
    });

    it("may go away and come back: what was followed goes on where it ended", async () => {
      line.cut();
      await waits(() => origin.failures.size > 0);
      const before = wholes("Service");
      await server.ask("POST", "/api/v1/namespaces/shop/services", {
        metadata: { name: "cart" },
        spec: { ports: [{ name: "http", port: 80 }] },
      });
      line.mend();
      await waits(() => origin.keys("Service").includes("Service/shop/cart") && origin.failures.size === 0);
      expect(wholes("Service")).toBe(before);
    });

    it("may forget its history: what was followed is read anew, with nothing deleted in between", async () => {
      line.cut();
      await waits(() => origin.failures.has("Service"));
      const before = wholes("Service");
      for (const name of ["a", "b", "c"]) {
        const spec = { ports: [{ name: "http", port: 80 }] };
        await server.ask("POST", "/api/v1/namespaces/shop/services", { metadata: { name }, spec });
      }
      await server.kill();
      await server.compact();
      await server.start();
      line.mend();
      await waits(() => origin.keys("Service").length === 5 && origin.failures.size === 0);
      expect(wholes("Service")).toBe(before + 1);
      expect(origin.told.filter((line) => line.startsWith("gone Service"))).toEqual([]);
    });

    it("may be restored from an older backup: what it holds now is read, and what is made from then on is heard", async () => {
      await server.backup();
      await waits(() => origin.failures.size === 0);
      // So much is made and taken away that no version from then on comes as far for long.
      for (let round = 0; round < 40; round += 1) {
        const spec = { ports: [{ name: "http", port: 80 }] };
        await server.ask("POST", "/api/v1/namespaces/shop/services", { metadata: { name: `later-${round}` }, spec });
      }
      await waits(() => origin.keys("Service").includes("Service/shop/later-39"));
      await server.restore();
      await waits(() => origin.keys("Service").length === 5 && origin.failures.size === 0);
      await server.ask("POST", "/api/v1/namespaces/shop/services", {
        metadata: { name: "anew" },
        spec: { ports: [{ name: "http", port: 80 }] },
      });
      await waits(() => origin.keys("Service").includes("Service/shop/anew"));
      expect(origin.keys("Service").length).toBe(6);
      await server.ask("DELETE", "/api/v1/namespaces/shop/services/anew");
    });

    it("is told from others by the uid of its kube-system", async () => {
      const { metadata } = await server.ask("GET", "/api/v1/namespaces/kube-system");
      expect(origin.origin.identity?.()).toBe(`cluster ${textOf(fieldsOf(metadata).uid)}`);
    });

    it("takes the manifests of infra/kubernetes, whose account may read what is read and nothing else", async () => {
      for (const manifest of await manifests()) await createObject(server, manifest);
      const token = await collectorToken(server);
      const client = { ...server.client, token: async () => token };
      await server.ask("POST", "/api/v1/namespaces/istio-system/configmaps", {
        metadata: { name: "istio" },
        data: { mesh: "enableTracing: true" },
      });
      const collected = new HeldOrigin(kubernetesOrigin(client, { cluster: "Kubernetes", secretNames: true }));
      await eventually(
        async () => [...collected.failures.values()].join() + String(collected.isWhole()),
        (text) => text === "true",
        60_000,
      );
      expect(collected.keys("ConfigMap")).toEqual(["ConfigMap/istio-system/istio"]);
      await collected.end();
      const ask = async (method: string, path: string, body?: object) => {
        const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
        const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
        return (await client.fetch(server.url + path, init)).status;
      };
      expect(await ask("GET", "/api/v1/configmaps")).toBe(403);
      expect(await ask("GET", "/apis/apps/v1/deployments")).toBe(403);
      expect(await ask("DELETE", "/api/v1/namespaces/shop/services/a")).toBe(403);
      expect(await ask("POST", "/apis/networking.istio.io/v1/namespaces/shop/virtualservices", {})).toBe(403);
    });
  });
}
