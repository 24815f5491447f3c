import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { openBookshop, rejections, shopHost, startGateway } from "./bookshop.ts";
import { startDev } from "./dev-process.ts";
import { eventually } from "./envoy.ts";

/** A filter whose code comes by discovery, and the code. */
const filter = (answer: string): string => `
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: { name: discovered, namespace: bookshop }
spec:
  configPatches:
    - applyTo: HTTP_FILTER
      match:
        context: GATEWAY
        listener: { filterChain: { filter: { name: envoy.filters.network.http_connection_manager, subFilter: { name: envoy.filters.http.router } } } }
      patch:
        operation: INSERT_BEFORE
        value:
          name: shop-says
          config_discovery:
            config_source: { ads: {}, resource_api_version: V3 }
            type_urls: [type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua]
    - applyTo: EXTENSION_CONFIG
      patch:
        operation: ADD
        value:
          name: shop-says
          typed_config:
            "@type": type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua
            default_source_code: { inline_string: 'function envoy_on_response(handle) handle:headers():add("x-shop", "${answer}") end' }
`;

/** What the filter adds to an answer; "" without one. */
const said = (port: number): Promise<string> =>
  new Promise((resolve) => {
    const asked = request({ port, path: "/catalog", headers: { host: shopHost } }, (response) => {
      response.resume();
      resolve(`${response.statusCode} ${response.headers["x-shop"] ?? ""}`);
    });
    asked.on("error", () => resolve("nobody answers"));
    asked.end();
  });

describe.each(["rest", "delta", "sotw"] as const)("an extension's configuration by discovery, %s", (transport) => {
  it("reaches a filter that asks for it by name, and so does a change of it", async () => {
    const shop = await openBookshop();
    await shop.add("discovered.yaml", filter("open"));
    const dev = await startDev(shop.folder, ["--grpc-port", "0", "--certificates", "none"]);
    const url = transport === "rest" ? dev.url : dev.grpcUrl;
    const envoy = await startGateway(url, { transport, certificates: "none" });
    try {
      await eventually(
        () => said(shop.port),
        (text) => text === "200 open",
        30_000,
      );
      await shop.edit("discovered.yaml", () => filter("closed"));
      await eventually(
        () => said(shop.port),
        (text) => text === "200 closed",
        30_000,
      );
      expect(await rejections(envoy)).toEqual([]);
    } finally {
      await envoy.stop();
      await dev.stop();
      await shop.close();
    }
  }, 120_000);
});
