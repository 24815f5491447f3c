import { createByteCache } from "../../limits/byte-cache.ts";
import type { Limits } from "../../limits/limits.ts";
import type { WholeBody } from "../../limits/read-body.ts";
import type { ExtensionLists } from "./extension-lists.ts";
import { depthAt, depthOfMembers, listKey } from "./json-request.ts";
import { type ReadPoll, readPoll } from "./poll-request.ts";

/** Reads polls, and knows those again that came before: an Envoy sends the same bytes until it has accepted something new. */
export interface KnownPolls {
  /** The same as `readPoll` of the text; equal bytes give the same object. */
  read(body: WholeBody): ReadPoll;
}

const listKeyBytes = Buffer.from(listKey);

/** What is remembered of a poll beside its bytes, in them; and of any poll, with its question and what that was answered from. */
const sizePerByte = 4;
const sizeOfEach = 1_000;

/** What a poll is looked up by: where it begins it says which node it is of, where it ends what it asks for. */
const lookedAt = { first: 192, last: 64 } as const;

/** Each connection holds its last poll, however many there are: only one that is not longer. */
const maxLastBytes = 4_096;

/** A poll, and all bytes of it but those of the node's list of extensions: before the list and behind it. */
interface KnownPoll {
  readonly start: Buffer;
  readonly rest: Buffer;
  readonly poll: ReadPoll;
}

/** @param lists of extensions: they are compared where they lie */
export function createKnownPolls(limits: Limits, lists: ExtensionLists): KnownPolls {
  const polls = createByteCache<KnownPoll>(limits.knownPollBytes);
  /** By connection: what comes over one is mostly what came before. */
  const last = new WeakMap<object, KnownPoll>();

  /** Of several with one name the latest: to compare bytes costs less than to make a name of all of them. */
  function knownAs(name: string, start: Buffer, rest: Buffer): KnownPoll | undefined {
    const known = polls.get(name);
    return known !== undefined && start.equals(known.start) && rest.equals(known.rest) ? known : undefined;
  }

  function remember(name: string, start: Buffer, rest: Buffer, poll: ReadPoll): KnownPoll {
    // Copies: what they lie in is as large as what a socket is read with.
    const known = { start: copyOf(start), rest: copyOf(rest), poll };
    if ("request" in poll) polls.set(name, known, sizeOfEach + sizePerByte * (start.length + rest.length));
    return known;
  }

  /** A poll around a list that is known: read with one in its place that says as much, where it is the node's. */
  function readAround(start: Buffer, rest: Buffer, short: string): ReadPoll | undefined {
    const name = nameOf(`around ${short.length}`, start, rest);
    const known = knownAs(name, start, rest);
    if (known !== undefined) return known.poll;
    const text = new TextDecoder().decode(start);
    if (depthAt(text, text.length, limits.depth) !== depthOfMembers) return undefined;
    // A mark of byte order has a meaning at the start of a text alone.
    const end = new TextDecoder("utf-8", { ignoreBOM: true }).decode(rest);
    return remember(name, start, rest, readPoll(text + short + end, limits)).poll;
  }

  return {
    read(body) {
      const [only] = body.parts;
      const before = body.from && last.get(body.from);
      if (before !== undefined && only !== undefined && body.parts.length === 1 && before.start.equals(only))
        return before.poll;
      const parts = body.parts.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength));
      const [first = nothing] = parts;
      const key = first.indexOf(listKeyBytes);
      const from = key + listKeyBytes.length;
      const list = key === -1 ? undefined : lists.bytesAt(parts, from);
      const around = list && readAround(first.subarray(0, from), behind(parts, from + list.length), list.short);
      if (around !== undefined) return around;
      const whole = parts.length === 1 ? first : Buffer.concat(parts);
      // With a list that is not known yet, the same poll comes another way next time.
      if (key !== -1 || whole.length > limits.nodeBytes) return readPoll(decode(whole), limits, lists);
      const name = nameOf("whole", whole, nothing);
      const known = knownAs(name, whole, nothing) ?? remember(name, whole, nothing, readPoll(decode(whole), limits));
      if (body.from !== undefined && whole.length <= maxLastBytes && "request" in known.poll)
        last.set(body.from, known);
      return known.poll;
    },
  };
}

const nothing = Buffer.alloc(0);

/** In memory of its own, and of no other size. */
const copyOf = (bytes: Buffer): Buffer => Buffer.from(new Uint8Array(bytes).buffer);

/** Latin 1 has a character for every byte. */
function nameOf(how: string, start: Buffer, rest: Buffer): string {
  const end = rest.length > 0 ? rest : start;
  const first = start.toString("latin1", 0, lookedAt.first);
  const last = end.toString("latin1", Math.max(end.length - lookedAt.last, 0));
  return `${how}${start.length} ${rest.length} ${first}${last}`;
}

const decode = (body: Buffer): string => new TextDecoder().decode(body);

/** What stands behind a place of some pieces that belong together. */
function behind(parts: readonly Buffer[], from: number): Buffer {
  const rest: Buffer[] = [];
  let start = from;
  for (const part of parts) {
    if (start < part.length) rest.push(part.subarray(start));
    start = Math.max(start - part.length, 0);
  }
  const [only = Buffer.alloc(0), ...more] = rest;
  return more.length === 0 ? only : Buffer.concat(rest);
}
