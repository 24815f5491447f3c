import {
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  encodingLength,
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
  if (message.length < headerBytes || isResponse(message)) return { kind: "nothing" };
  if (book === undefined) return { kind: "answer", packet: failure(message) };
  if (!isPlain(message)) return { kind: "elsewhere" };
  const query = read(message);
  const [question] = query?.questions ?? [];
  if (query === undefined || question === undefined) return { kind: "nothing" };
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

const headerBytes = 12;

/** The bit QR. */
const isResponse = (message: Buffer): boolean => message.readUInt8(2) >= 0x80;

/** A resolver's question has one record besides, for EDNS, and few have a second one, such as a signature. */
const maxAdditionals = 4;

/**
 * Whether it is one question and little else, by the counts of its header. What is more is not read here: names are pointers to names, and
 * a message full of them takes the square of its length.
 */
function isPlain(message: Buffer): boolean {
  const [questions, answers, authorities, additionals] = [4, 6, 8, 10].map((at) => message.readUInt16BE(at));
  return questions === 1 && answers === 0 && authorities === 0 && (additionals ?? 0) <= maxAdditionals;
}

function read(message: Buffer): Packet | undefined {
  try {
    return decode(message);
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
  const shuffled = [...list];
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [shuffled[last], shuffled[other]] = [shuffled[other] ?? "", shuffled[last] ?? ""];
  }
  return shuffled;
}

function mostBytes(query: Packet, protocol: "udp" | "tcp"): number {
  if (protocol === "tcp") return 65_535;
  const sizes = (query.additionals ?? []).flatMap((record) => (record.type === "OPT" ? [record.udpPayloadSize] : []));
  return Math.min(Math.max(512, ...sizes), 4_096);
}

/** An address of IPv4 with the shortest name. */
const leastRecordBytes = 15;

function fitting(query: Packet, answers: readonly Answer[], most: number): Buffer {
  const wanted = (query.flags ?? 0) & RECURSION_DESIRED;
  const flags = AUTHORITATIVE_ANSWER | RECURSION_AVAILABLE | wanted;
  const packetOf = (count: number): Packet => ({
    type: "response",
    id: query.id ?? 0,
    flags: count < answers.length ? flags | TRUNCATED_RESPONSE : flags,
    questions: [...(query.questions ?? [])],
    answers: answers.slice(0, count),
  });
  // The number of answers that fit, by halves: a name may have thousands of addresses.
  let [fit, tooMany] = [0, Math.min(answers.length, Math.floor(most / leastRecordBytes)) + 1];
  while (tooMany - fit > 1) {
    const count = (fit + tooMany) >> 1;
    if (encodingLength(packetOf(count)) <= most) fit = count;
    else tooMany = count;
  }
  return encode(packetOf(fit));
}
