import { blobKey } from "../base/blob.ts";
import type { Semaphore } from "../limits/semaphore.ts";
import { createLoadCache } from "../snapshot/worlds/load-cache.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { noRoomForAnswer } from "./polls/outcome.ts";
import { type Answer, problem } from "./requests/answer.ts";
import { plain, type Route } from "./requests/routes.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A module that is about to be sent. */
interface SentModule {
  readonly bytes: Bytes;
  /** To be called when its reader has it, or has gone away. */
  readonly leave: () => void;
}

/** Modules of Wasm in the store, by their SHA-256. */
export interface WasmModules {
  /** @returns "none" where the store has none of that name, or something else; "no room" where too much is being sent */
  open(sha256: string): Promise<SentModule | "none" | "no room">;
}

/** `GET /v3/wasm/<digest>`. */
export const moduleRoute = (modules: WasmModules): Route => ({
  method: "GET",
  path: "/v3/wasm/:digest",
  to: plain(({ params, request }) => moduleAnswer(modules, params.digest ?? "", request.header)),
});

/** What stays in memory after it was asked for; a larger one lies there only while it is sent. */
const keptBytes = 16 * 1024 * 1024;

/** What begins every module. Other blobs are not for nodes. */
const magic = [0x00, 0x61, 0x73, 0x6d];

/**
 * However many ask for a module at a time, it is read once and lies in memory once.
 *
 * @param room for answers that lie in memory whole
 */
export function createWasmModules(store: ObjectStore, room: Semaphore): WasmModules {
  const inUse = new Map<string, { readonly bytes: Bytes; readonly leave: () => void; readers: number }>();
  const cache = createLoadCache<string, Bytes | undefined>({
    nameOf: (sha256) => sha256,
    maxBytes: keptBytes,
    load: async (sha256) => {
      const found = await store.get(blobKey(sha256));
      return found.kind === "found" && magic.every((byte, at) => found.bytes[at] === byte) ? found.bytes : undefined;
    },
    sizeOf: (bytes) => bytes?.length ?? 0,
    // At the edge a load ends with the request that began it.
    patienceMs: 2_000,
  });
  return {
    async open(sha256) {
      const bytes = inUse.get(sha256)?.bytes ?? (await cache.get(sha256));
      if (bytes === undefined) return "none";
      let use = inUse.get(sha256);
      if (use === undefined) {
        const leave = room.tryEnter(bytes.length);
        if (leave === undefined) return "no room";
        use = { bytes, leave, readers: 0 };
        inUse.set(sha256, use);
      }
      const used = use;
      used.readers += 1;
      let hasLeft = false;
      return {
        bytes: used.bytes,
        leave() {
          if (hasLeft) return;
          hasLeft = true;
          used.readers -= 1;
          if (used.readers > 0) return;
          inUse.delete(sha256);
          used.leave();
        },
      };
    },
  };
}

type ReadHeader = (name: string) => string | undefined;

interface Range {
  readonly from: number;
  /** Behind the last byte. */
  readonly to: number;
}

/**
 * A module, whole or in a part (RFC 9110, 14): its name says what is in it, so whoever keeps it keeps it for good. It goes out in pieces, as
 * fast as its reader takes them.
 */
async function moduleAnswer(modules: WasmModules, sha256: string, header: ReadHeader): Promise<Answer> {
  const found = /^[0-9a-f]{64}$/.test(sha256) ? await modules.open(sha256) : "none";
  if (found === "none") return problem(404, "there is no such module here");
  if (found === "no room") return problem(503, noRoomForAnswer);
  const { bytes, leave } = found;
  const etag = `"${sha256}"`;
  const always = { "cache-control": "private, max-age=31536000, immutable", etag, "accept-ranges": "bytes" };
  if (header("if-none-match") === etag) {
    leave();
    return { status: 304, headers: always };
  }
  const range = rangeOf(header, etag, bytes.length);
  if (range === "none") {
    leave();
    return problem(416, "the module has no such part", { "content-range": `bytes */${bytes.length}` });
  }
  const { from, to } = range ?? { from: 0, to: bytes.length };
  return {
    status: range === undefined ? 200 : 206,
    headers: {
      ...always,
      "content-type": "application/wasm",
      "content-length": String(to - from),
      ...(range === undefined ? {} : { "content-range": `bytes ${from}-${to - 1}/${bytes.length}` }),
    },
    body: { chunks: () => piecesOf(bytes.subarray(from, to)), sent: leave },
  };
}

/** The one part that is asked for; undefined: all of it, also where several are asked for. */
function rangeOf(header: ReadHeader, etag: string, length: number): Range | "none" | undefined {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header("range") ?? "") ?? [];
  const condition = header("if-range");
  if ((first === "" && last === "") || (condition !== undefined && condition !== etag)) return undefined;
  if (first === "") return last === "0" ? "none" : { from: Math.max(0, length - Number(last)), to: length };
  const from = Number(first);
  const to = last === "" ? length : Math.min(length, Number(last) + 1);
  if (last !== "" && Number(last) < from) return undefined;
  return from >= length ? "none" : { from, to };
}

const pieceBytes = 64 * 1024;

async function* piecesOf(bytes: Bytes): AsyncGenerator<Uint8Array> {
  // Copies: a platform may take what it is given away from whoever else reads it.
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.slice(at, at + pieceBytes);
}
