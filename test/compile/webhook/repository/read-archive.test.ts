import { createTarPacker, type TarEntry, type TarHeader } from "modern-tar";
import { describe, expect, it } from "vitest";
import { FetchFailure } from "../../../../lib/compile/webhook/repository/fetch-failure.ts";
import { type ArchiveLimits, readArchive } from "../../../../lib/compile/webhook/repository/read-archive.ts";
import { limits } from "../../../../lib/limits/limits.ts";

const sha = "a1b2c3d4".repeat(5);
const top = "shop-mesh-a1b2c3d";
const file = (name: string, body = "kind: X\n", more: Partial<TarHeader> = {}): TarEntry => ({
  header: { name, size: new TextEncoder().encode(body).length, ...more },
  body,
});

type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>;

/** An archive whose entries are made while it is read, so that one of a gigabyte takes no room here. */
function tar(entries: Iterable<TarEntry>): Bytes {
  const { readable, controller } = createTarPacker();
  const write = async () => {
    for (const { header, body } of entries) {
      const writer = controller.add(header).getWriter();
      if (typeof body === "string" && body !== "") await writer.write(new TextEncoder().encode(body));
      await writer.close();
    }
    controller.finalize();
  };
  // A reader that has had enough ends it.
  write().catch(() => {});
  return readable.pipeThrough(copied());
}

/** Streams of several libraries differ in the type of their bytes alone. */
const copied = () =>
  new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>({
    transform: (chunk, controller) => controller.enqueue(new Uint8Array(chunk)),
  });

const zipped = (archive: Bytes): Bytes => archive.pipeThrough(new CompressionStream("gzip")).pipeThrough(copied());
const archive = (...entries: readonly TarEntry[]): Bytes => zipped(tar(entries));
const stream = (bytes: Uint8Array): Bytes =>
  new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(bytes));
      controller.close();
    },
  });
const bytesOf = async (from: Bytes): Promise<Uint8Array> => new Uint8Array(await new Response(from).arrayBuffer());

const read = async (from: Bytes, path = "", bounds: Partial<ArchiveLimits> = {}) =>
  (await readArchive(from, sha, { path }, { ...limits, ...bounds })).files;
const namesIn = async (from: Bytes, path?: string) => (await read(from, path)).map((one) => one.file);

describe("readArchive", () => {
  it("takes what a folder is read for, in the order of their paths", async () => {
    const found = await read(
      archive(
        file(`${top}/z.yaml`, "z"),
        { header: { name: `${top}/mesh/`, size: 0, type: "directory" } },
        file(`${top}/mesh/a.yml`, "\uFEFFä"),
        file(`${top}/mesh/b.json`, ""),
        file(`${top}/README.md`),
        file(`${top}/.github/workflow.yaml`),
        file(`${top}/node_modules/x/sample.yaml`),
        file(`${top}/mesh/.hidden.yaml`),
      ),
    );
    expect(found).toEqual([
      { file: "mesh/a.yml", text: "\uFEFFä" },
      { file: "mesh/b.json", text: "" },
      { file: "z.yaml", text: "z" },
    ]);
  });

  it("takes the files below a path alone, by their names from there on", async () => {
    const entries = () => [file(`${top}/mesh/prod/a.yaml`), file(`${top}/mesh/production.yaml`), file(`${top}/b.yaml`)];
    expect(await namesIn(archive(...entries()), "mesh/prod")).toEqual(["a.yaml"]);
    // A path that an operator has named is read though its name begins with a dot.
    expect(await namesIn(archive(file(`${top}/.mesh/a.yaml`)), ".mesh")).toEqual(["a.yaml"]);
  });

  it("follows no link, and says so of the file", async () => {
    const link = (name: string, linkname: string, type: "symlink" | "link") => ({
      header: { name: `${top}/${name}`, size: 0, type, linkname },
    });
    const found = await read(
      archive(link("a.yaml", "/etc/passwd", "symlink"), link("b.yaml", "../c.yaml", "link"), link("d", "e", "symlink")),
    );
    expect(found.map((one) => [one.file, one.text, one.problem?.slice(0, 12)])).toEqual([
      ["a.yaml", "", "it is a link"],
      ["b.yaml", "", "it is a link"],
    ]);
  });

  it("reads long names, by whichever means they are written", async () => {
    const name = `mesh/${"long/".repeat(60)}a.yaml`;
    expect(await namesIn(archive(file(`${top}/${name}`)))).toEqual([name]);
  });

  it.each([
    ["that leads out of it", `${top}/../../etc/a.yaml`],
    ["that is absolute", "/etc/a.yaml"],
    ["with nothing between two slashes", `${top}//a.yaml`],
    ["of this very folder", "./a.yaml"],
    ["that leads out by its own name", ".."],
  ])("refuses all of an archive with a path %s", async (_what, name) => {
    const refused = read(archive(file(`${top}/good.yaml`), file(name)));
    await expect(refused).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining("a path that Git never"),
    });
  });

  it.each([
    ["by what Git writes into it", archive(file(`${top}/a.yaml`, "", { pax: { comment: "b".repeat(40) } }))],
    ["by its folder", archive(file("shop-mesh-b1b2c3d/a.yaml"))],
  ])("refuses an archive of another commit, told %s", async (_what, from) => {
    await expect(read(from)).rejects.toMatchObject({ status: 502, message: expect.stringContaining("another commit") });
  });

  it("refuses an archive of several folders", async () => {
    const refused = read(archive(file(`${top}/a.yaml`), file("other/a.yaml")));
    await expect(refused).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining("more than one folder"),
    });
  });

  it.each([
    ["no gzip", async (whole: Uint8Array) => whole.subarray(100)],
    ["cut off in its last bytes", async (whole: Uint8Array) => whole.subarray(0, -6)],
    ["cut off in the middle", async (whole: Uint8Array) => whole.subarray(0, whole.length / 2)],
    ["nothing", async () => new Uint8Array()],
    ["a page of a web site", async () => new TextEncoder().encode("<html>Sign in</html>")],
    ["no tar", () => bytesOf(zipped(stream(new Uint8Array(2_048).fill(7))))],
    [
      "a tar without its end",
      async () => bytesOf(zipped(stream((await bytesOf(tar([file(`${top}/a.yaml`)]))).subarray(0, 1_024)))),
    ],
    [
      "a tar with a flipped bit",
      async () => bytesOf(zipped(stream(flipped(await bytesOf(tar([file(`${top}/a.yaml`)])))))),
    ],
  ])("refuses what is %s, with nothing of it", async (_what, damage) => {
    const random = Array.from({ length: 2_000 }, (_, i) => `${i * 2_654_435_761}`).join();
    const whole = await bytesOf(archive(file(`${top}/a.yaml`), file(`${top}/b.yaml`, random)));
    await expect(read(stream(await damage(whole)))).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining("damaged or cut off"),
    });
  });

  it.each([
    ["compressed bytes", { archiveBytes: 100 }, [file(`${top}/README`, "no configuration")]],
    ["bytes that unpack from few", { archiveUnpackedBytes: 100_000 }, [file(`${top}/zeros.bin`, "0".repeat(200_000))]],
    ["entries", { archiveEntries: 2 }, [file(`${top}/1`), file(`${top}/2`), file(`${top}/3`)]],
    ["files of configuration", { sourceFiles: 1 }, [file(`${top}/1.yaml`), file(`${top}/2.yaml`)]],
    ["bytes of configuration", { sourceBytes: 10 }, [file(`${top}/1.yaml`, "6bytes"), file(`${top}/2.yaml`, "6bytes")]],
  ] as const)("refuses too many %s, and says what to do", async (_what, bounds, entries) => {
    await expect(read(archive(...entries), "", bounds)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining("portolan push"),
    });
  });

  it("refuses a name that is too long, and says which", async () => {
    const refused = read(archive(file(`${top}/${"n".repeat(1_025)}.yaml`)));
    await expect(refused).rejects.toMatchObject({ status: 422, message: expect.stringContaining("nnn…") });
  });

  it("refuses a file with more pax records than tar writes", async () => {
    const records = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x${i}`, "v"]));
    expect(await namesIn(archive(file(`${top}/a.yaml`, "", { pax: records(16) })))).toEqual(["a.yaml"]);
    const refused = read(archive(file(`${top}/a.yaml`, "", { pax: records(17) })));
    await expect(refused).rejects.toMatchObject({ status: 422, message: expect.stringContaining("16 pax records") });
  });

  it("refuses a global header of many records at the first file, before it is copied to all", async () => {
    let made = 0;
    function* many(): Generator<TarEntry> {
      const body = Array.from({ length: 500 }, (_, i) => `10 x${i + 100}=v\n`).join("");
      yield file("pax_global_header", body, { type: "pax-global-header" });
      for (; made < 100_000; made += 1) yield file(`${top}/${made}`, "");
    }
    await expect(read(zipped(tar(many())))).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining("16 pax records"),
    });
    expect(made).toBeLessThan(50_000);
  });

  it("refuses pax headers without end, though each repeats one record and no file follows", async () => {
    const body = "6 a=b\n".repeat(100_000);
    let made = 0;
    function* many(): Generator<TarEntry> {
      yield file(`${top}/a.yaml`);
      for (; made < 200; made += 1) yield file("x", body, { type: "pax-header" });
    }
    await expect(read(zipped(tar(many())), "", { archiveHeaderBytes: 2 * 1024 * 1024 })).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining("pax headers and long names"),
    });
    expect(made).toBeLessThan(100);
  });

  it("does not count bodies as headers", async () => {
    function* bodies(): Generator<TarEntry> {
      yield file(`${top}/a.yaml`);
      for (let i = 0; i < 100; i += 1) yield file(`${top}/${i}.bin`, "0".repeat(100_001));
    }
    expect((await read(zipped(tar(bodies())), "", { archiveHeaderBytes: 4 * 1024 * 1024 })).length).toBe(1);
  });

  it("gives up a bomb before it is unpacked", async () => {
    let made = 0;
    function* bomb(): Generator<TarEntry> {
      const zeros = "0".repeat(64 * 1024);
      for (; made < 10_000; made += 1) yield file(`${top}/${made}.bin`, zeros);
    }
    await expect(read(zipped(tar(bomb())), "", { archiveUnpackedBytes: 1024 * 1024 })).rejects.toBeInstanceOf(
      FetchFailure,
    );
    expect(made).toBeLessThan(1_000);
  });

  it("refuses a hundred thousand files of configuration at the first that is too many", async () => {
    function* many(): Generator<TarEntry> {
      for (let i = 0; i < 100_000; i += 1) yield file(`${top}/${i}.yaml`, "");
    }
    await expect(read(zipped(tar(many())), "", { sourceFiles: 200 })).rejects.toMatchObject({
      message: expect.stringContaining("more than 200 files of configuration"),
    });
  });
});

/** One bit of the first header, past its name. */
function flipped(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes);
  copy[110] = (copy[110] ?? 0) ^ 1;
  return copy;
}
