import type { AttackClass } from "./attack-class.ts";
import { pollOf, victim } from "./world.ts";

const line = "POST /v3/discovery:clusters HTTP/1.1\r\nhost: portolan\r\ncontent-type: application/json\r\n";
const body = pollOf("clusters", victim);
const poll = `${line}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const most = " ".repeat(900_000);

export const connectionAttacks: readonly AttackClass[] = [
  {
    name: "requests that are none",
    transport: "HTTP/1.1",
    share: 30,
    ends: ["400", "404", "408", "415", "417", "421", "431", "501", "505", "closed"],
    send: (clients, random) => {
      const bytes = Buffer.from(Array.from({ length: 1 + random(200) }, () => random(256)));
      const odd = [
        Buffer.concat([bytes, Buffer.from("\r\n\r\n")]),
        `GET / HTTP/9.9\r\nhost: portolan\r\n\r\n`,
        `${line}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n`,
        `${line}content-length: 5\r\ncontent-length: 6\r\n\r\nabcdef`,
        `${line}content-length: -1\r\n\r\n`,
        `${line}transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n`,
        `GET /x HTTP/1.1\r\nhost: portolan\r\na: ${"b".repeat(20_000)}\r\n\r\n`,
        `GET /${"x".repeat(20_000)} HTTP/1.1\r\nhost: portolan\r\n\r\n`,
        `GET /x HTTP/1.1\r\nhost: a b\r\n\r\n`,
        "GET /x HTTP/1.1\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        `${line}expect: nothing\r\ncontent-length: 0\r\n\r\n`,
      ];
      return clients.raw(odd[random(odd.length)] ?? "");
    },
  },
  {
    name: "headers and bodies that do not end",
    transport: "HTTP/1.1",
    share: 6,
    ends: ["left", "closed"],
    send: (clients, random) =>
      clients.leave(
        [
          line,
          `${line}content-length: 100000\r\n\r\n{"node"`,
          `${line}content-length: 1000000\r\n\r\n${most}`,
          "",
          `${line}transfer-encoding: chunked\r\n\r\n`,
        ][random(5)] ?? "",
      ),
  },
  {
    name: "answers that nobody takes",
    transport: "HTTP/1.1",
    share: 4,
    ends: ["left", "closed"],
    send: (clients) => clients.leave(poll.repeat(3)),
  },
];
