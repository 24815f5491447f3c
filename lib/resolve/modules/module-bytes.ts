import { concatBytes } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** What every module of WebAssembly begins with: its magic number, and the version of the binary format. */
const magic = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/** @throws PortolanError, beginning with `what`, for bytes that are no module */
export function checkedModule(bytes: Bytes, what: string): Bytes {
  if (magic.every((byte, at) => bytes[at] === byte)) return bytes;
  throw new PortolanError(`${what} is no module of WebAssembly: it does not begin with its magic number and version 1`);
}

/**
 * All bytes of a stream.
 *
 * @param sizeBytes how many there are, at most `maxBytes`: then they are held once; absent: nobody has said
 * @throws PortolanError, beginning with `what`, for more than so many, of which no more is read
 */
export async function bytesOf(
  stream: Response["body"],
  what: string,
  maxBytes: number,
  sizeBytes?: number,
): Promise<Bytes> {
  if (sizeBytes !== undefined) return sizedBytes(stream, what, sizeBytes);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream ?? []) {
    length += chunk.byteLength;
    // Leaving the loop ends the stream.
    if (length > maxBytes) throw tooLarge(what, maxBytes);
    chunks.push(chunk);
  }
  return concatBytes(chunks);
}

async function sizedBytes(stream: Response["body"], what: string, sizeBytes: number): Promise<Bytes> {
  const bytes = new Uint8Array(sizeBytes);
  let length = 0;
  for await (const chunk of stream ?? []) {
    if (length + chunk.byteLength > sizeBytes)
      throw new PortolanError(`${what} has more bytes than its manifest or header states`);
    bytes.set(chunk, length);
    length += chunk.byteLength;
  }
  return bytes.subarray(0, length);
}

export const tooLarge = (what: string, maxBytes: number): PortolanError =>
  new PortolanError(`${what} has more than ${maxBytes / 1024 / 1024} MiB`);
