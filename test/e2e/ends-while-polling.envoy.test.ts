/** An Envoy that is told to end while its polls are held, as those of a pod that is replaced always are. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startGateway } from "./bookshop.ts";
import { eventually } from "./envoy.ts";
import { type Platform, startPlatform } from "./platform.ts";

let server: Server;
let platform: Platform;
/** Polls that are not answered. */
let held = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const { type_url, version_info }: { readonly type_url: string; readonly version_info?: string } =
        JSON.parse(body);
      if (version_info === "1") {
        held += 1;
        return;
      }
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ version_info: "1", type_url, resources: [] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // a TCP server's address is never a text
  platform = await startPlatform("cloudflare", `http://127.0.0.1:${port}`);
});

afterAll(async () => {
  await platform?.close();
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
});

it("ends by itself with exit code 0, over TLS with the server's name and without", async () => {
  const { port } = server.address() as AddressInfo;
  for (const where of [platform, `http://127.0.0.1:${port}`]) {
    held = 0;
    const envoy = await startGateway(where, { pollDelayMs: 100 });
    await eventually(
      async () => held,
      (polls) => polls >= 2,
    );
    expect(await envoy.stop()).toBeUndefined();
  }
}, 60_000);
