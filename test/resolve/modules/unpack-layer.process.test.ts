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
});
