import {
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  type Packet,
  RECURSION_AVAILABLE,
  RECURSION_DESIRED,
  TRUNCATED_RESPONSE,
} from "dns-packet";
import type { Found, NameBook } from "./name-book.ts";

/** How long an answer may be kept, in seconds: soon there may be others. */
const ttlSeconds = 30;

/** What is done with a question. */
export type Reply =
  | { readonly kind: "answer"; readonly packet: Buffer }
  /** It is for another nameserver. */
  | { readonly kind: "elsewhere" }
  /** It is no question at all. */
  | { readonly kind: "nothing" };

/** An error by its code. */
const serverFailure = 2;

/**
 * Answers a question from the book.
 *
 * @param book undefined before the first table: then nobody knows what is elsewhere
 * @param protocol over UDP what does not fit into what the asker takes is left out, and said to be
 * @param random from 0 to 1: addresses come in another order each time, so that connections spread
 */
export function answerOf(
  message: Buffer,
  book: NameBook | undefined,
  protocol: "udp" | "tcp",
  random: () => number,
): Reply {
  const query = read(message);
  if (query === undefined || query.type !== "query") return { kind: "nothing" };
  const [question, ...more] = query.questions ?? [];
  if (book === undefined) return { kind: "answer", packet: failure(message) };
  if (question === undefined || more.length > 0) return { kind: "elsewhere" };
  const { name, type } = question;
  if ((type !== "A" && type !== "AAAA") || (question.class ?? "IN") !== "IN") return { kind: "elsewhere" };
  const found = book.find(name.toLowerCase().replace(/\.$/, ""));
  if (found === undefined) return { kind: "elsewhere" };
  try {
    return { kind: "answer", packet: fitting(query, answersOf(name, type, found, random), mostBytes(query, protocol)) };
  } catch {
    // A label with a dot in it is read, and cannot be written again.
    return { kind: "answer", packet: failure(message) };
  }
}

/** The question itself as an answer that says only that there is none. */
export function failure(message: Buffer): Buffer {
  const answer = Buffer.from(message);
  // An answer; then availability of recursion, and the error.
  answer.writeUInt8(answer.readUInt8(2) | 0x80, 2);
  answer.writeUInt8(0x80 | serverFailure, 3);
  return answer;
}

function read(message: Buffer): Packet | undefined {
  try {
    return message.length < 12 ? undefined : decode(message);
  } catch {
    return undefined;
  }
}

type Answer = NonNullable<Packet["answers"]>[number];

function answersOf(name: string, type: "A" | "AAAA", found: Found, random: () => number): readonly Answer[] {
  const { target } = found;
  const addresses = shuffled(found[type], random);
  if (addresses.length === 0) return [];
  const owner = target ?? name;
  const alias: readonly Answer[] =
    target === undefined ? [] : [{ type: "CNAME", name, ttl: ttlSeconds, class: "IN", data: target }];
  return [...alias, ...addresses.map((data): Answer => ({ type, name: owner, ttl: ttlSeconds, class: "IN", data }))];
}

function shuffled(list: readonly string[], random: () => number): readonly string[] {
  const shuffling = list.map((value) => ({ value, at: random() }));
  return shuffling.sort((a, b) => a.at - b.at).map(({ value }) => value);
}

function mostBytes(query: Packet, protocol: "udp" | "tcp"): number {
  if (protocol === "tcp") return 65_535;
  const sizes = (query.additionals ?? []).flatMap((record) => (record.type === "OPT" ? [record.udpPayloadSize] : []));
  return Math.min(Math.max(512, ...sizes), 4_096);
}

function fitting(query: Packet, answers: readonly Answer[], most: number): Buffer {
  const wanted = (query.flags ?? 0) & RECURSION_DESIRED;
  const flags = AUTHORITATIVE_ANSWER | RECURSION_AVAILABLE | wanted;
  const packetOf = (some: readonly Answer[], more: number) =>
    encode({
      type: "response",
      id: query.id ?? 0,
      flags: flags | more,
      questions: [...(query.questions ?? [])],
      answers: [...some],
    });
  const whole = packetOf(answers, 0);
  if (whole.length <= most) return whole;
  for (let count = answers.length - 1; count > 0; count--) {
    const part = packetOf(answers.slice(0, count), TRUNCATED_RESPONSE);
    if (part.length <= most) return part;
  }
  return packetOf([], TRUNCATED_RESPONSE);
}
