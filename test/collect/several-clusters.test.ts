import { describe, expect, it } from "vitest";
import { keyText } from "../../lib/base/diagnostic.ts";
import { createCollector } from "../../lib/collect/collector.ts";
import { createSourcesCompiler } from "../../lib/compile/recompile.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { parseStream } from "../../lib/config/documents/parse.ts";
import type { SourceFile } from "../../lib/config/folder/directory.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import type { Origin, OriginObject } from "../../lib/registry/origin/origin.ts";
import { memoryStore } from "../../lib/storage/memory.ts";

const sample = new URL("../../samples/clusters", import.meta.url).pathname;

/** A cluster that holds what some files say. */
function clusterOf(cluster: string, files: readonly SourceFile[]): Origin {
  const objects = files.flatMap(({ file, text }) =>
    parseStream(text, { file }).value.map(
      ({ origin, ...object }): OriginObject => ({ key: keyText(origin.key), version: "1", object }),
    ),
  );
  return {
    about: { kind: "kubernetes", cluster },
    parts: ["all"],
    follow: async (sink) => void sink.whole("all", objects),
  };
}

describe("two collected clusters", () => {
  it("come to what their two folders come to, the first one's configuration and both ones' workloads", async () => {
    const files = await readFolder(sample);
    const [east, west] = [true, false].map((isEast) =>
      files.filter(({ file }) => file.startsWith("clusters/") === isEast),
    );
    expect([east?.length, west?.length]).toEqual([1, 2]);
    const folders = memoryStore();
    await writeShard(folders, "main", files);
    const collected = memoryStore();
    for (const [source, origin] of [
      ["first", clusterOf("Kubernetes", west ?? [])],
      ["second", clusterOf("east", east ?? [])],
    ] as const)
      await createCollector({ store: collected, source, origin }).once();
    const of = async (store: typeof folders) => (await createSourcesCompiler({ store })()).compiled.value;
    const [expected, found] = [await of(folders), await of(collected)];
    expect(found.classes.length).toBeGreaterThan(0);
    expect(found.classes).toEqual(expected.classes);
    expect([found.classifier, found.nodes]).toEqual([expected.classifier, expected.nodes]);
  });
});

describe("two sources of one cluster", () => {
  it("give one message with both names and the number of objects, and the later one counts", async () => {
    const store = memoryStore();
    const files = (await readFolder(sample)).filter(({ file }) => !file.startsWith("clusters/"));
    for (const source of ["first", "second"])
      await createCollector({ store, source, origin: clusterOf("Kubernetes", files) }).once();
    const { compiled } = await createSourcesCompiler({ store })();
    const found = compiled.diagnostics.filter(({ code }) => code === "duplicate-object");
    expect(found.map(({ severity, origin, message, hint }) => [severity, origin.file, message, hint])).toEqual([
      [
        "warning",
        "source second",
        expect.stringMatching(
          /^has \d+ objects that the source first has, too: \w+ \w+\/[-\w]+, .* and \d+ more; those of second count$/,
        ),
        expect.stringContaining("both are of the cluster Kubernetes"),
      ],
    ]);
  });
});
