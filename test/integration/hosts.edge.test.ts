import http from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { lookupReports } from "../../lib/resolve/lookup-reports.ts";
import { lambdaEdge, type PublicEdge, workerdEdge } from "../e2e/edges.ts";
import { openNameServer } from "../resolve/name-server.ts";

const host = "gw.net2.example";
const files = [
  { file: "networks.yaml", text: `networks: { net2: { gateways: [{ address: ${host}, port: 15443 }] } }\n` },
  { file: "shop.yaml", text: "apiVersion: v1\nkind: Namespace\nmetadata: { name: shop }\n" },
];

async function looksUp(edge: PublicEdge): Promise<void> {
  try {
    const pushed = await edge.post("/sources/main", JSON.stringify({ files }));
    expect([pushed.status, await pushed.json()]).toMatchObject([200, { kind: "published" }]);
    expect(await lookupReports(edge.store)).toMatchObject([
      { kind: "host", of: host, state: "fresh", addresses: ["192.0.2.1", "2001:db8::1"] },
    ]);
  } finally {
    await edge.close();
  }
}

it("a Worker, which has no name servers, asks for hosts over HTTPS", async () => {
  const asked: string[] = [];
  // What a Worker trusts is no test's to say, so this one speaks clear text.
  const server = http.createServer((request, response) => {
    const type = new URL(request.url ?? "", "http://x").searchParams.get("type") ?? "";
    asked.push(`${request.url}`);
    const answer = type === "A" ? { type: 1, data: "192.0.2.1" } : { type: 28, data: "2001:db8:0::1" };
    response.end(JSON.stringify({ Status: 0, Answer: [{ name: host, TTL: 60, ...answer }] }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  try {
    await looksUp(await workerdEdge({ RESOLVER_DNS_OVER_HTTPS: `http://127.0.0.1:${port}/dns-query` }));
    expect(asked.sort()).toEqual(["A", "AAAA"].map((type) => `/dns-query?name=${host}&type=${type}`));
  } finally {
    server.close();
  }
}, 120_000);

it("a Lambda function asks name servers", async () => {
  const names = await openNameServer();
  names.set(host, ["192.0.2.1", "2001:db8::1"]);
  try {
    await looksUp(await lambdaEdge({ PORTOLAN_RESOLVER_DNS_SERVERS: names.address }));
  } finally {
    names.close();
  }
}, 120_000);
