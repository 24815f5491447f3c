import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDnsOverHttps } from "../../lib/resolve/dns-over-https.ts";
import { createNodeDns } from "../../lib/resolve/node-dns.ts";
import { createNodeFetch } from "../../lib/resolve/node-fetch.ts";
import { readResolverSettings } from "../../lib/resolve/resolver-settings.ts";
import { type NameServer, openNameServer } from "./name-server.ts";

const { signal } = new AbortController();

describe("DNS of Node", () => {
  let server: NameServer;
  beforeAll(async () => {
    server = await openNameServer();
  });
  afterAll(() => server.close());

  it("has the addresses of a name with how long they count, and none of what has none", async () => {
    const ask = createNodeDns([server.address]);
    server.set("gw.example", ["192.0.2.1", "2001:db8::1"], 42);
    expect(await ask("gw.example", "A", signal)).toEqual([{ address: "192.0.2.1", ttlSeconds: 42 }]);
    expect(await ask("gw.example", "AAAA", signal)).toEqual([{ address: "2001:db8::1", ttlSeconds: 42 }]);
    expect(await ask("other.example", "A", signal)).toEqual([]);
    server.set("four.example", ["192.0.2.1"]);
    expect(await ask("four.example", "AAAA", signal)).toEqual([]);
  });

  it("fails where a name server does, and ends when it is told to", async () => {
    const ask = createNodeDns([server.address]);
    server.fail("SERVFAIL");
    await expect(ask("gw.example", "A", signal)).rejects.toThrow(
      "no name server answers for gw.example (A): ESERVFAIL",
    );
    server.fail("nothing");
    const stop = new AbortController();
    const asked = ask("gw.example", "A", stop.signal);
    stop.abort();
    await expect(asked).rejects.toThrow("ECANCELLED");
    server.fail(undefined);
  });
});

describe("DNS over HTTPS", () => {
  let answer: object;
  let asked: http.IncomingMessage | undefined;
  const server = http.createServer((request, response) => {
    asked = request;
    response.end(JSON.stringify(answer));
  });
  let endpoint: string;
  beforeAll(async () => {
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/dns-query`;
  });
  afterAll(() => new Promise((closed) => server.close(closed)));
  const ask = (host: string) =>
    createDnsOverHttps((allowedHosts) => createNodeFetch({ allowedHosts }), endpoint)(host, "A", signal);

  it("asks for JSON, follows aliases, and takes records of the type alone", async () => {
    answer = {
      Status: 0,
      Answer: [
        { name: "gw.example", type: 5, TTL: 300, data: "lb.example." },
        { name: "lb.example", type: 1, TTL: 60, data: "192.0.2.1" },
      ],
    };
    expect(await ask("gw.example")).toEqual([{ address: "192.0.2.1", ttlSeconds: 60 }]);
    expect(asked?.url).toBe("/dns-query?name=gw.example&type=A");
    expect(asked?.headers.accept).toBe("application/dns-json");
  });

  it("tells a name that is not there from a resolver that fails", async () => {
    answer = { Status: 3 };
    expect(await ask("gw.example")).toEqual([]);
    answer = { Status: 0 };
    expect(await ask("gw.example")).toEqual([]);
    answer = { Status: 2 };
    await expect(ask("gw.example")).rejects.toThrow("has no answer for gw.example (A): DNS status 2");
    answer = ["something else"];
    await expect(ask("gw.example")).rejects.toThrow("something else than DNS in JSON");
  });
});

describe("the settings of DNS", () => {
  it("take addresses with and without ports, and a URL", () => {
    const servers = "10.0.0.2,10.0.0.3:5353,fd00::2,[fd00::3]:53";
    const url = "https://dns.google/resolve";
    expect(readResolverSettings({ RESOLVER_DNS_SERVERS: servers, RESOLVER_DNS_OVER_HTTPS: url })).toEqual({
      allowedHosts: new Set(),
      dnsServers: servers.split(","),
      dnsOverHttps: url,
    });
  });

  it("say what they may be", () => {
    for (const wrong of ["ns.example", "10.0.0", "10.0.0.2:53:1"])
      expect(() => readResolverSettings({ RESOLVER_DNS_SERVERS: wrong }, "PORTOLAN_")).toThrow(
        `PORTOLAN_RESOLVER_DNS_SERVERS names ${JSON.stringify(wrong)}; each is an IP address`,
      );
    expect(() => readResolverSettings({ RESOLVER_DNS_OVER_HTTPS: "1.1.1.1" })).toThrow("it is a URL, such as");
  });
});
