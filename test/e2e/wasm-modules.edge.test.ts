import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { digestOf } from "../resolve/registry.ts";
import { openBookshop, rejections, startGateway } from "./bookshop.ts";
import { lambdaEdge, workerdEdge } from "./edges.ts";
import { eventually } from "./envoy.ts";
import { asker } from "./fail-closed-mesh.ts";
import { teapotModule } from "./wasm-module.ts";

describe.each([
  ["Workers in workerd, out of R2", () => workerdEdge({ RESOLVER_ALLOWED_HOSTS: "127.0.0.1" })],
  ["Lambda functions, out of S3", () => lambdaEdge({ PORTOLAN_RESOLVER_ALLOWED_HOSTS: "127.0.0.1" })],
])("%s", (_name, open) => {
  it("give a polling Envoy the module that the compile function has fetched", async () => {
    const code = teapotModule();
    const sha256 = digestOf(code);
    const server = createServer((_request, response) => response.end(code));
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/teapot.wasm`;
    const [shop, edge] = await Promise.all([openBookshop(), open()]);
    await shop.add(
      "teapot.yaml",
      `apiVersion: extensions.istio.io/v1alpha1
kind: WasmPlugin
metadata: { name: teapot, namespace: bookshop }
spec: { selector: { matchLabels: { istio: ingressgateway } }, phase: AUTHN, url: "${url}", sha256: ${sha256} }
`,
    );
    const pushed = await edge.post("/sources/main", JSON.stringify({ files: await readFolder(shop.folder) }));
    expect([pushed.status, await pushed.json()]).toMatchObject([200, { kind: "published", generation: 2 }]);
    const envoy = await startGateway(edge.platform);
    try {
      const ask = asker(shop.port);
      await eventually(
        async () => (await ask("/catalog", {})).status,
        (status) => status === 418,
        30_000,
      );
      expect(await rejections(envoy)).toEqual([]);
      const part = await fetch(`${edge.frontUrl}/v3/wasm/${sha256}`, { headers: { range: "bytes=0-3" } });
      expect([part.status, new Uint8Array(await part.arrayBuffer())]).toEqual([206, code.slice(0, 4)]);
    } finally {
      await envoy.stop();
      await edge.close();
      await shop.close();
      server.close();
    }
  }, 240_000);
});
