import type { Compression } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";
import { createGate } from "../../limits/gate.ts";
import { noRoom } from "../../limits/read-body.ts";
import type { Front } from "../front.ts";
import { connectErrorOf } from "./connect-error.ts";

/** Its parts, and what they make when they are put together. */
const copies = 2;

/**
 * The only compression of gRPC here: every client knows it. To unpack brotli takes up to 16 MiB besides the message, and to pack
 * an answer seconds.
 *
 * Messages are unpacked one after another where there is not room for all; those that wait are bodies still.
 */
export function gzipWithin({ bodies, limits }: Front): Compression {
  const unpacking = createGate(limits.unpackedBytes);
  return {
    ...compressionGzip,
    async decompress(bytes, maxBytes) {
      let leave = () => {};
      const needed = new AbortController();
      const share = bodies.open(() => needed.abort(connectErrorOf(noRoom)));
      try {
        if (!share.take(bytes.length)) throw connectErrorOf(noRoom);
        leave = await unpacking.enter(copies * maxBytes, needed.signal);
        return await compressionGzip.decompress(bytes, maxBytes);
      } finally {
        leave();
        share.close();
      }
    },
  };
}
