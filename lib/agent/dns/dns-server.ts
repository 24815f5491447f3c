import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { createServer, type Socket } from "node:net";
import { causeText, codeOf } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { listening } from "../listening.ts";
import { answerOf, failure } from "./dns-answer.ts";
import type { NameBook } from "./name-book.ts";
import { askUpstream, framed, type Nameserver } from "./upstream.ts";

export interface DnsServerOptions {
  /** Addresses to listen at, over UDP and TCP. */
  readonly hosts: readonly string[];
  /** 0 takes any. */
  readonly port: number;
  /** Who is asked for other names. */
  readonly nameservers: readonly Nameserver[];
  /** Undefined before the first table. */
  readonly book: () => NameBook | undefined;
  /** Called for each error of a socket, of which the question or the connection is lost and nothing else. */
  readonly onError: (cause: unknown) => void;
}

const maxTries = 20;

export interface DnsServer {
  readonly port: number;
  close(): void;
}

/** What is given to those who ask, whoever they are. */
const limits = {
  /** Questions that others are asked at a time; what is more fails. */
  forwarded: 512,
  connections: 128,
  /** A connection on which nothing comes or goes. */
  idleMs: 15_000,
} as const;

/**
 * Answers DNS from a table of names, and asks other nameservers for the rest.
 *
 * @see docs/how-istio-does-it/names-over-dns.md#what-the-agent-answers
 * @param tries for port 0, which has to be free for UDP and TCP
 * @throws PortolanError when the port cannot be had
 */
export async function serveDns(
  { hosts, port, nameservers, book, onError }: DnsServerOptions,
  tries = maxTries,
): Promise<DnsServer> {
  const closing = new AbortController();
  let forwarded = 0;

  async function reply(message: Buffer, protocol: "udp" | "tcp"): Promise<Buffer | undefined> {
    const answer = answerOf(message, book(), protocol, Math.random);
    if (answer.kind === "answer") return answer.packet;
    if (answer.kind === "nothing") return undefined;
    if (forwarded >= limits.forwarded) return failure(message);
    forwarded += 1;
    try {
      return (await askUpstream(message, nameservers, protocol, closing.signal)) ?? failure(message);
    } catch (cause) {
      onError(cause);
      return failure(message);
    } finally {
      forwarded -= 1;
    }
  }

  function onDatagram(socket: UdpSocket): void {
    const answerTo = async (message: Buffer, address: string, from: number) => {
      const answer = await reply(message, "udp");
      if (answer === undefined || closing.signal.aborted) return;
      // A resolver asks again for an answer that could not be sent. `send` throws for a port of 0, which a packet may claim to come from.
      socket.send(answer, from, address, (cause) => {
        if (cause !== null) onError(cause);
      });
    };
    socket.on("message", (message, { address, port: from }) => {
      answerTo(message, address, from).catch(onError);
    });
    socket.on("error", onError);
  }

  function onConnection(socket: Socket): void {
    let got = Buffer.alloc(0);
    let isBusy = false;
    socket.setTimeout(limits.idleMs, () => socket.destroy());
    // A socket that has an error closes by itself.
    socket.on("error", onError);
    /** One question after the other; meanwhile nothing more is read. */
    async function next(): Promise<void> {
      if (isBusy || got.length < 2) return;
      const length = got.readUInt16BE(0);
      if (got.length < length + 2) return;
      isBusy = true;
      socket.pause();
      const answer = await reply(got.subarray(2, length + 2), "tcp");
      if (answer === undefined || socket.destroyed) return void socket.destroy();
      got = got.subarray(length + 2);
      isBusy = false;
      socket.write(framed(answer));
      socket.resume();
      return next();
    }
    socket.on("data", (chunk) => {
      got = Buffer.concat([got, chunk]);
      next().catch((cause: unknown) => {
        onError(cause);
        socket.destroy();
      });
    });
  }

  const opened: { close(): void }[] = [];
  const close = () => {
    closing.abort();
    for (const one of opened) one.close();
  };
  let taken = port;
  try {
    for (const host of hosts) {
      const udp = createSocket(host.includes(":") ? "udp6" : "udp4");
      opened.push(udp);
      taken = await bound(udp, host, taken);
      onDatagram(udp);
      const connections = new Set<Socket>();
      const tcp = createServer((socket) => {
        connections.add(socket);
        socket.once("close", () => connections.delete(socket));
        onConnection(socket);
      });
      tcp.maxConnections = limits.connections;
      await listening(tcp, { host, port: taken }, onError);
      opened.push({
        close() {
          tcp.close();
          for (const socket of connections) socket.destroy();
        },
      });
    }
  } catch (cause) {
    close();
    // Any free port was asked for, and that of UDP was not free for TCP.
    if (port === 0 && tries > 1 && codeOf(cause) === "EADDRINUSE")
      return serveDns({ hosts, port, nameservers, book, onError }, tries - 1);
    throw new PortolanError(
      `cannot answer DNS on port ${taken} of ${hosts.join(" and ")}: ${causeText(cause)}`,
      [],
      cause,
    );
  }
  return { port: taken, close };
}

const bound = (socket: UdpSocket, address: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.bind({ address, port }, () => {
      socket.off("error", reject);
      resolve(socket.address().port);
    });
  });
