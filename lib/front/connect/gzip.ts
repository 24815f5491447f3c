import { gunzipSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";

/**
 * The only compression of gRPC here: every client knows it. To unpack brotli takes up to 16 MiB besides the message, and to pack
 * an answer seconds.
 *
 * A message is unpacked in one go, in about ten milliseconds at the most. In the background each 16 KiB would wait for a turn of
 * the event loop, and what is half unpacked would lie in memory for as many messages as come.
 */
export const gzip: Compression = {
  ...compressionGzip,
  async decompress(bytes, maxBytes) {
    if (bytes.length === 0) return new Uint8Array();
    try {
      return gunzipSync(bytes, { maxOutputLength: maxBytes });
    } catch (cause) {
      if (cause instanceof RangeError)
        throw new ConnectError(
          `the message is larger than ${maxBytes} bytes when it is unpacked`,
          Code.ResourceExhausted,
        );
      throw new ConnectError("the message cannot be unpacked", Code.InvalidArgument);
    }
  },
};
