import { createByteCache } from "../../limits/byte-cache.ts";
import type { Limits } from "../../limits/limits.ts";
import type { WholeBody } from "../../limits/read-body.ts";
import type { ExtensionLists } from "./extension-lists.ts";
import { depthAt, depthOfMembers, emptyList, listKey } from "./json-request.ts";
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

/** @param lists of extensions: they are compared where they lie, and everything else of a poll is its name here */
export function createKnownPolls(limits: Limits, lists: ExtensionLists): KnownPolls {
  const polls = createByteCache<ReadPoll>(limits.knownPollBytes);

  function remember(name: string, poll: ReadPoll): ReadPoll {
    if ("request" in poll) polls.set(name, poll, sizeOfEach + sizePerByte * name.length);
    return poll;
  }

  /** A poll around a list that is known: read as if that were empty, where it is one that nobody reads. */
  function readAround(start: Buffer, rest: Buffer): ReadPoll | undefined {
    // Latin 1 has a character for every byte: equal names, equal bytes. The first key of a list ends the start, so the name tells
    // where the list was.
    const name = `-${start.toString("latin1")}${rest.toString("latin1")}`;
    const known = polls.get(name);
    if (known !== undefined) return known;
    const text = new TextDecoder().decode(start);
    if (depthAt(text, text.length, limits.depth) !== depthOfMembers) return undefined;
    // A mark of byte order has a meaning at the start of a text alone.
    const end = new TextDecoder("utf-8", { ignoreBOM: true }).decode(rest);
    return remember(name, readPoll(text + emptyList + end, limits));
  }

  return {
    read(body) {
      const parts = body.parts.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength));
      const [first = Buffer.alloc(0)] = parts;
      const key = first.indexOf(listKeyBytes);
      const from = key + listKeyBytes.length;
      const length = key === -1 ? undefined : lists.bytesAt(parts, from);
      const around =
        length === undefined ? undefined : readAround(first.subarray(0, from), behind(parts, from + length));
      if (around !== undefined) return around;
      const whole = parts.length === 1 ? first : Buffer.concat(parts);
      // With a list that is not known yet, the same poll comes another way next time.
      if (key !== -1 || whole.length > limits.nodeBytes) return readPoll(decode(whole), limits, lists);
      const name = `=${whole.toString("latin1")}`;
      return polls.get(name) ?? remember(name, readPoll(decode(whole), limits));
    },
  };
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
