import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { AUTHORITATIVE_ANSWER, decode, encode, type Packet, TRUNCATED_RESPONSE } from "dns-packet";
import { afterEach, describe, expect, it } from "vitest";
import { answerOf } from "../../../lib/agent/dns/dns-answer.ts";
import { serveDns } from "../../../lib/agent/dns/dns-server.ts";
import { createNameBook, type NameBook } from "../../../lib/agent/dns/name-book.ts";
import { readResolvConf } from "../../../lib/agent/dns/resolv-conf.ts";
import { framed } from "../../../lib/agent/dns/upstream.ts";
import { dnsClient, external, kubernetes, tableOf } from "./names.ts";

const ends: (() => unknown)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const many = Array.from({ length: 200 }, (_, i) => `10.3.0.${i}`);
const thousands = Array.from({ length: 40_000 }, (_, i) => `10.4.${i >> 8}.${i & 255}`);
const book = createNameBook(
  tableOf({
    "pods.shop.svc.cluster.local": kubernetes("pods", "shop", ...thousands),
    "web.shop.svc.cluster.local": kubernetes("web", "shop", "10.0.0.1"),
    "db.shop.svc.cluster.local": kubernetes("db", "shop", "10.2.0.1", "10.2.0.2", "10.2.0.3"),
    "many.shop.svc.cluster.local": kubernetes("many", "shop", ...many),
    "six.example.com": external("2001:db8::6"),
  }),
  dnsClient,
);

/** A nameserver that says 198.51.100.7 to whatever it is asked, over UDP, and over TCP at the same port. */
async function outside(): Promise<{ readonly address: string; readonly port: number; readonly asked: string[] }> {
  const asked: string[] = [];
  const answer = (message: Buffer): Buffer => {
    const { id, questions = [] } = decode(message);
    asked.push(`${questions[0]?.type} ${questions[0]?.name}`);
    const answers = questions.map(({ name }) => ({ type: "A", name, ttl: 5, data: "198.51.100.7" }) as const);
    return encode({ type: "response", id: id ?? 0, questions, answers });
  };
  const udp = createSocket("udp4");
  udp.on("message", (message, { port, address }) => udp.send(answer(message), port, address));
  udp.bind(0, "127.0.0.1");
  await once(udp, "listening");
  const { port } = udp.address();
  const tcp = createServer((socket) => socket.on("data", (chunk) => socket.end(framed(answer(chunk.subarray(2))))));
  try {
    tcp.listen(port, "127.0.0.1");
    await once(tcp, "listening");
  } catch {
    // Free for UDP is not free for TCP.
    udp.close();
    return outside();
  }
  ends.push(
    () => udp.close(),
    () => tcp.close(),
  );
  return { address: "127.0.0.1", port, asked };
}

async function serving(of: () => NameBook | undefined = () => book) {
  const other = await outside();
  const dns = await serveDns({ hosts: ["127.0.0.1"], port: 0, nameservers: [other], book: of, onError: () => {} });
  ends.push(dns.close);
  const resolver = new Resolver({ timeout: 2_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${dns.port}`]);
  return { resolver, port: dns.port, other };
}

/** One question over UDP, by hand. */
async function askUdp(port: number, message: Buffer): Promise<Packet> {
  const socket = createSocket("udp4");
  ends.push(() => socket.close());
  socket.send(message, port, "127.0.0.1");
  const [answer]: Buffer[] = await once(socket, "message");
  return decode(answer ?? Buffer.alloc(0));
}

const question = (name: string, more: Packet = {}) =>
  encode({ type: "query", id: 7, flags: 0x100, questions: [{ type: "A", name }], ...more });

describe("a DNS server before the names of a mesh", () => {
  it("answers a resolver's questions for A and AAAA, in whatever case", async () => {
    const { resolver, other } = await serving();
    expect(await resolver.resolve4("web.shop.svc.cluster.local", { ttl: true })).toEqual([
      { address: "10.0.0.1", ttl: 30 },
    ]);
    expect(await resolver.resolve4("Web.Shop")).toEqual(["10.0.0.1"]);
    expect(await resolver.resolve6("six.example.com")).toEqual(["2001:db8::6"]);
    expect((await resolver.resolve4("db")).sort()).toEqual(["10.2.0.1", "10.2.0.2", "10.2.0.3"]);
    expect(other.asked).toEqual([]);
  });

  it("answers a name with the search domain behind it by an alias and its addresses", async () => {
    const { port } = await serving();
    const { answers, rcode } = {
      rcode: undefined,
      ...(await askUdp(port, question("db.shop.shop.svc.cluster.local"))),
    };
    expect(rcode).toBe("NOERROR");
    expect(answers?.map(({ type, name }) => `${type} ${name}`)).toEqual([
      "CNAME db.shop.shop.svc.cluster.local",
      "A db.shop",
      "A db.shop",
      "A db.shop",
    ]);
  });

  it("says of a known name that has no such address that it has none, and not that there is no such name", async () => {
    const { resolver, port, other } = await serving();
    await expect(resolver.resolve4("six.example.com")).rejects.toMatchObject({ code: "ENODATA" });
    const { flags = 0 } = await askUdp(port, question("six.example.com"));
    expect([flags & AUTHORITATIVE_ANSWER, other.asked]).toEqual([AUTHORITATIVE_ANSWER, []]);
  });

  it("asks another nameserver for what it does not know, and for other types of known names", async () => {
    const { resolver, other } = await serving();
    expect(await resolver.resolve4("example.net")).toEqual(["198.51.100.7"]);
    await resolver.resolveTxt("web.shop").catch(() => {});
    expect(other.asked).toEqual(["A example.net", "TXT web.shop"]);
  });

  it("cuts an answer to what the asker takes over UDP, and gives it whole over TCP, to one question after the other", async () => {
    const { resolver, port } = await serving();
    const cut = await askUdp(port, question("many"));
    expect((cut.flags ?? 0) & TRUNCATED_RESPONSE).toBe(TRUNCATED_RESPONSE);
    expect(cut.answers?.length).toBeGreaterThan(10);
    // A resolver comes again over TCP by itself.
    expect((await resolver.resolve4("many")).sort()).toEqual([...many].sort());
    const socket = connect(port, "127.0.0.1");
    const got: Buffer[] = [];
    socket.on("data", (chunk) => got.push(chunk));
    socket.write(Buffer.concat([framed(question("web")), framed(question("example.net"))]));
    await expect.poll(() => Buffer.concat(got).length, { timeout: 5_000 }).toBeGreaterThan(60);
    const all = Buffer.concat(got);
    const first = all.readUInt16BE(0);
    const addresses = [all.subarray(2, first + 2), all.subarray(first + 4)].map(
      (message) => decode(message).answers?.[0],
    );
    expect(addresses).toMatchObject([{ data: "10.0.0.1" }, { data: "198.51.100.7" }]);
    socket.destroy();
  });

  it("cuts the answer for a name with thousands of addresses as soon as any other, and gives others at other times", async () => {
    const { port } = await serving();
    const seen = new Set<string>();
    for (let i = 0; i < 20; i += 1) {
      const { answers = [], flags = 0 } = await askUdp(port, question("pods"));
      expect([answers.length, flags & TRUNCATED_RESPONSE]).toEqual([24, TRUNCATED_RESPONSE]);
      for (const answer of answers) seen.add(JSON.stringify(answer));
    }
    expect(seen.size).toBeGreaterThan(400);
  });

  it("does not read what is more than one question: names that are pointers to pointers take long", () => {
    const header = Buffer.from([0, 7, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0]);
    // The second question's name ends nowhere.
    const message = Buffer.concat([header, Buffer.from([0, 0, 1, 0, 1, 0xff])]);
    expect(answerOf(message, book, "udp", Math.random)).toEqual({ kind: "elsewhere" });
    message.writeUInt16BE(1, 4);
    expect(answerOf(message.subarray(0, 14), book, "udp", Math.random)).toEqual({ kind: "nothing" });
  });

  it("fails everything before the first names are there, and what no nameserver answers", async () => {
    const { resolver } = await serving(() => undefined);
    await expect(resolver.resolve4("example.net")).rejects.toMatchObject({ code: "ESERVFAIL" });
    const options = { hosts: ["127.0.0.1"], port: 0, nameservers: [], book: () => book, onError: () => {} };
    const alone = await serveDns(options);
    ends.push(alone.close);
    expect(await askUdp(alone.port, question("example.net"))).toMatchObject({ rcode: "SERVFAIL", id: 7 });
  });

  it("goes on after what is no question, over either protocol", async () => {
    const { resolver, port } = await serving();
    const socket = createSocket("udp4");
    for (const size of [0, 1, 11, 12, 600]) socket.send(Buffer.alloc(size, 0xc0), port, "127.0.0.1");
    const tcp = connect(port, "127.0.0.1");
    tcp.on("error", () => {});
    tcp.write(Buffer.from([0, 3, 1, 2, 3]));
    await once(tcp, "close");
    expect(await resolver.resolve4("web.shop")).toEqual(["10.0.0.1"]);
    socket.close();
  });
});

describe("the settings of a resolver", () => {
  it("are at most three nameservers, and the search domains of the last line that has any", () => {
    const text =
      "# x\nnameserver 10.0.0.10\nsearch a.b\nnameserver fd00::10 ; y\nsearch shop.svc. svc\noptions ndots:5\n";
    expect(readResolvConf(`${text}nameserver 1.1.1.1\nnameserver 2.2.2.2`)).toEqual({
      nameservers: ["10.0.0.10", "fd00::10", "1.1.1.1"],
      search: ["shop.svc", "svc"],
    });
  });
});
