import { createTarDecoder } from "modern-tar";
import { PortolanError } from "../../base/diagnostic.ts";
import { bytesOf, tooLarge } from "./module-bytes.ts";

/** The file of an image that holds its module, as Istio's agent takes it. */
const moduleFile = "plugin.wasm";

/** Files before the module are passed over, up to so many bytes more of the unpacked layer, headers among them. */
const spareBytes = 16 * 1024 * 1024;

/**
 * The module in a layer of an image.
 *
 * @param layer a tar, which may be compressed with gzip
 * @param maxBytes of the module
 * @throws PortolanError, beginning with `what`, for a layer that holds none, or more than may be read
 */
export async function unpackLayer(
  layer: Uint8Array<ArrayBuffer>,
  what: string,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const maxUnpackedBytes = maxBytes + spareBytes;
  const packed = new Blob([layer]).stream();
  const isCompressed = layer[0] === 0x1f && layer[1] === 0x8b;
  let unpacked = 0;
  let refusal: PortolanError | undefined;
  const counted = (isCompressed ? packed.pipeThrough(new DecompressionStream("gzip")) : packed).pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        unpacked += chunk.byteLength;
        if (unpacked <= maxUnpackedBytes) return controller.enqueue(chunk);
        // An error does not always get through the streams behind it unchanged.
        refusal = tooLarge(`${what}, unpacked,`, maxUnpackedBytes);
        throw refusal;
      },
    }),
  );
  try {
    let module: Uint8Array<ArrayBuffer> | undefined;
    // Everything is read to its end: on Node, to leave a stream that is being unpacked may never come to an end.
    for await (const { header, body } of counted.pipeThrough(createTarDecoder({ strict: true }))) {
      const isModule = header.type === "file" && header.name.replace(/^\.?\//, "") === moduleFile;
      if (isModule && header.size > maxBytes) refusal ??= tooLarge(`${moduleFile} of ${what}`, maxBytes);
      if (isModule && refusal === undefined && module === undefined)
        module = await bytesOf(body, `${moduleFile} of ${what}`, maxBytes, header.size);
      else for await (const _chunk of body);
    }
    if (refusal !== undefined) throw refusal;
    if (module !== undefined) return module;
  } catch (cause) {
    if (refusal !== undefined || cause instanceof PortolanError) throw refusal ?? cause;
    throw new PortolanError(`${what} is no tar that could be unpacked`, [], cause);
  }
  throw new PortolanError(`${what} holds no file ${moduleFile}`);
}
