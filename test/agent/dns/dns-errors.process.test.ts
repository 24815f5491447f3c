import { Socket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { Server } from "node:net";
import { encode } from "dns-packet";
import { afterEach, describe, expect, it, vi } from "vitest";
import { serveDns } from "../../../lib/agent/dns/dns-server.ts";
import { createNameBook } from "../../../lib/agent/dns/name-book.ts";
import type { Nameserver } from "../../../lib/agent/dns/upstream.ts";
import { dnsClient, kubernetes, tableOf } from "./names.ts";

const ends: (() => unknown)[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const end of ends.splice(0)) end();
});

const web = "web.shop.svc.cluster.local";
const book = createNameBook(tableOf({ [web]: kubernetes("web", "shop", "10.0.0.1") }), dnsClient);
const question = (name: string) => encode({ type: "query", id: 7, flags: 0x100, questions: [{ type: "A", name }] });

/** A DNS server with the sockets that it opened, and the errors that it counted. */
async function serving(nameservers: readonly Nameserver[] = []) {
  const [bind, listen] = [vi.spyOn(Socket.prototype, "bind"), vi.spyOn(Server.prototype, "listen")];
  const errors: string[] = [];
  const dns = await serveDns({
    hosts: ["127.0.0.1"],
    port: 0,
    nameservers,
    book: () => book,
    onError: (cause) => errors.push(cause instanceof Error && "code" in cause ? String(cause.code) : String(cause)),
  });
  ends.push(dns.close);
  const resolver = new Resolver({ timeout: 2_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${dns.port}`]);
  const [udp] = bind.mock.contexts;
  const [tcp] = listen.mock.contexts;
  if (!(udp instanceof Socket) || !(tcp instanceof Server)) throw new Error("it listens over both protocols");
  return { udp, tcp, errors, resolver };
}

describe("an error of a socket that answers DNS", () => {
  it("costs one answer, where a packet claims to come from port 0", async () => {
    const { udp, errors, resolver } = await serving();
    // What Node emits for such a packet; only a raw socket can send one.
    udp.emit("message", question(web), { address: "127.0.0.1", port: 0, family: "IPv4", size: 40 });
    await expect.poll(() => errors).toEqual(["ERR_SOCKET_BAD_PORT"]);
    expect(await resolver.resolve4(web)).toEqual(["10.0.0.1"]);
  });

  it("is SERVFAIL for whoever asked, where a nameserver cannot be asked at all", async () => {
    const { errors, resolver } = await serving([{ address: "127.0.0.1", port: 99_999 }]);
    await expect(resolver.resolve4("example.net")).rejects.toMatchObject({ code: "ESERVFAIL" });
    await expect(resolver.resolve4("example.org")).rejects.toMatchObject({ code: "ESERVFAIL" });
    expect(errors).toEqual(["ERR_SOCKET_BAD_PORT", "ERR_SOCKET_BAD_PORT"]);
  });

  it("is counted where one is emitted, by either protocol", async () => {
    const { udp, tcp, errors, resolver } = await serving();
    for (const socket of [udp, tcp])
      for (let i = 0; i < 2; i += 1) socket.emit("error", Object.assign(new Error("accept"), { code: "EMFILE" }));
    expect(errors).toEqual(["EMFILE", "EMFILE", "EMFILE", "EMFILE"]);
    expect(await resolver.resolve4(web)).toEqual(["10.0.0.1"]);
  });
});
