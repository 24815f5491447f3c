/** A name server over UDP, whose records and silence a test decides. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type Answer, decode, encode } from "dns-packet";
import type { AskDns } from "../../lib/resolve/ask-dns.ts";

export interface NameServer {
  /** As settings name it. */
  readonly address: string;
  /** What it was asked, as `A host`. */
  readonly asked: readonly string[];
  /** What a host has from now on; it has nothing before. @param ttlSeconds of the records */
  set(host: string, addresses: readonly string[], ttlSeconds?: number): void;
  /** Whether it answers so from now on. */
  fail(with_: "nothing" | "SERVFAIL" | undefined, only?: "A" | "AAAA"): void;
  close(): void;
}

/** RCODE of an answer that says that something went wrong. */
const serverFailure = 2;
const noSuchName = 3;

export async function openNameServer(): Promise<NameServer> {
  const hosts = new Map<string, readonly Answer[]>();
  const asked: string[] = [];
  let failing: { readonly with_: "nothing" | "SERVFAIL" | undefined; readonly only: string | undefined } | undefined;
  const socket = createSocket("udp4");
  socket.on("message", (message, { port, address }) => {
    const { id = 0, questions = [] } = decode(message);
    const [question] = questions;
    if (question === undefined) return;
    asked.push(`${question.type} ${question.name}`);
    const fails =
      failing !== undefined && (failing.only ?? question.type) === question.type ? failing.with_ : undefined;
    if (fails === "nothing") return;
    const records = hosts.get(question.name.toLowerCase());
    const answers = fails ? [] : (records ?? []).filter(({ type }) => type === question.type);
    const code = fails ? serverFailure : records === undefined ? noSuchName : 0;
    socket.send(encode({ type: "response", id, flags: code, questions, answers }), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    set(host, addresses, ttlSeconds = 30) {
      hosts.set(
        host,
        addresses.map(
          (data) => ({ type: data.includes(":") ? "AAAA" : "A", name: host, ttl: ttlSeconds, data }) as const,
        ),
      );
    },
    fail(with_, only) {
      failing = with_ === undefined ? undefined : { with_, only };
    },
    close: () => socket.close(),
  };
}

/** For resolvers that are asked for no host. */
export const noDns: AskDns = async (host) => {
  throw new Error(`nobody was to ask for ${host}`);
};
