import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bookshop, openBookshop, rejections, shopHost, startGateway } from "./bookshop.ts";
import { startDev } from "./dev-process.ts";
import { eventually } from "./envoy.ts";
import { teapotModule } from "./wasm-module.ts";

const code = teapotModule();
const sha256 = createHash("sha256").update(code).digest("hex");

/** Serves the module as a web server does. */
const server = createServer((_request, response) => response.end(code));
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address: AddressInfo | string | null = server.address();
  port = typeof address === "object" && address !== null ? address.port : 0;
});
afterAll(() => server.close());

const plugin = (spec: string) => `
apiVersion: extensions.istio.io/v1alpha1
kind: WasmPlugin
metadata: { name: teapot, namespace: bookshop }
spec: { selector: { matchLabels: { istio: ingressgateway } }, phase: AUTHN, ${spec} }
`;

/** The web server as a service of the mesh. */
const codeHost = () => `
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: code, namespace: bookshop }
spec:
  hosts: [code.example.com]
  ports: [{ number: ${port}, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 127.0.0.1 }]
`;

const status = (shop: Bookshop): Promise<string> =>
  new Promise((resolve) => {
    // A connection that was there before goes on through the listener that it came in by.
    const options = { port: shop.port, path: "/catalog", headers: { host: shopHost }, agent: false };
    const asked = request(options, (response) => {
      response.resume();
      resolve(String(response.statusCode));
    });
    asked.on("error", () => resolve("nobody answers"));
    asked.end();
  });

const answers = (shop: Bookshop, wanted: string) =>
  eventually(
    () => status(shop),
    (text) => text === wanted,
    30_000,
  );

describe.each(["rest", "delta", "sotw"] as const)("a Wasm plugin over %s", (transport) => {
  it("runs in a real Envoy from a file, and from a web server of the mesh, and is away when it is deleted", async () => {
    const shop = await openBookshop();
    const file = join(shop.folder, "teapot.wasm");
    await writeFile(file, code);
    await shop.add("teapot.yaml", plugin(`url: "file://${file}"`));
    const dev = await startDev(shop.folder, ["--grpc-port", "0", "--certificates", "none"]);
    const envoy = await startGateway(transport === "rest" ? dev.url : dev.grpcUrl, { transport, certificates: "none" });
    try {
      await answers(shop, "418");
      await shop.edit("teapot.yaml", codeHost);
      await answers(shop, "200");
      const url = `url: "http://code.example.com:${port}/teapot.wasm", sha256: ${sha256}`;
      await shop.edit("teapot.yaml", () => plugin(url) + codeHost());
      await answers(shop, "418");
      expect(await rejections(envoy)).toEqual([]);
    } finally {
      await envoy.stop();
      await dev.stop();
      await shop.close();
    }
  }, 180_000);
});

describe("an image, which no Envoy can fetch", () => {
  it("is at an Envoy that polls a filter that refuses everything, or lets everything pass where the plugin fails open", async () => {
    const shop = await openBookshop();
    await shop.add("teapot.yaml", plugin('url: "oci://registry.example.com/teapot:1"'));
    const dev = await startDev(shop.folder, ["--certificates", "none"]);
    const envoy = await startGateway(dev.url, { certificates: "none" });
    try {
      await answers(shop, "403");
      await shop.edit("teapot.yaml", (text) => text.replace("phase:", "failStrategy: FAIL_OPEN, phase:"));
      await answers(shop, "200");
      expect(await rejections(envoy)).toEqual([]);
    } finally {
      await envoy.stop();
      await dev.stop();
      await shop.close();
    }
  }, 120_000);
});
