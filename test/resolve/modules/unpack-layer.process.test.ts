import { describe, expect, it } from "vitest";
import { unpackLayer } from "../../../lib/resolve/modules/unpack-layer.ts";
import { tarLayer } from "../registry.ts";

const maxBytes = 1024 * 1024;

describe("a layer of an image", () => {
  it.each([true, false])("gives its module (gzip: %s)", async (isCompressed) => {
    const module = new Uint8Array(300_000).map((_, at) => at * 7);
    const { bytes } = await tarLayer("plugin.wasm", module, isCompressed);
    expect(Buffer.from(await unpackLayer(bytes, "the layer", maxBytes)).equals(module)).toBe(true);
  });

  it("is unpacked within the bound of its process, however small it is on its way", async () => {
    const { bytes } = await tarLayer("plugin.wasm", new Uint8Array(64 * maxBytes));
    expect(bytes.length).toBeLessThan(100_000);
    await expect(unpackLayer(bytes, "the layer", maxBytes)).rejects.toThrow(
      "the layer, unpacked, has more than 17 MiB",
    );
  });

  it.each([true, false])("that ends early, or is something else, is refused (gzip: %s)", async (isCompressed) => {
    const { bytes } = await tarLayer(
      "plugin.wasm",
      new Uint8Array(300_000).map((_, at) => at * at),
      isCompressed,
    );
    for (const wrong of [bytes.slice(0, bytes.length / 2), bytes.map((byte, at) => (at < 2 ? byte : ~byte))])
      await expect(unpackLayer(wrong, "the layer", maxBytes)).rejects.toThrow(/^the layer is no tar/);
  });

  it("without the file, or with one that is too large, is read to its end and refused", async () => {
    const other = await tarLayer("other.wasm", new Uint8Array(300_000));
    await expect(unpackLayer(other.bytes, "the layer", maxBytes)).rejects.toThrow("holds no file plugin.wasm");
    const large = await tarLayer("plugin.wasm", new Uint8Array(2 * maxBytes));
    await expect(unpackLayer(large.bytes, "the layer", maxBytes)).rejects.toThrow(
      "plugin.wasm of the layer has more than 1 MiB",
    );
  });
});
