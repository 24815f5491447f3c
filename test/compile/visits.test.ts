import { describe, expect, it } from "vitest";
import { createFileCompiler, createShardCompiler, type FilesCompiled } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import type { SourceFile } from "../../lib/config/folder/directory.ts";
import { resourcesIn } from "../../lib/snapshot/compiled.ts";
import { foldersFiles } from "../bench/mesh-folder.ts";
import { syntheticMesh } from "../bench/synthetic-mesh.ts";

const filesOf = (services: number): readonly SourceFile[] => foldersFiles(syntheticMesh(services).text);

interface Counted {
  readonly classes: number;
  /** Steps that were made, not remembered: of everything, and of one change in the same process. */
  readonly everything: number;
  readonly virtualService: number;
  readonly endpoint: number;
  /** Steps that were looked up for one endpoint. */
  readonly lookedUp: number;
}

function count(services: number): Counted {
  const files = filesOf(services);
  const compile = createFileCompiler(defaultWorldOptions);
  const made = ({ memo }: FilesCompiled): number => memo.misses;
  const edited = (pattern: RegExp, by: string): readonly SourceFile[] =>
    files.map((file) => (file.file === "app-0.yaml" ? { ...file, text: file.text.replace(pattern, by) } : file));
  const first = compile(files, []);
  const virtualService = made(compile(edited(/"timeout":"\d+s"/, '"timeout":"77s"'), []));
  compile(files, []);
  const { memo } = compile(edited(/"ready":true/, '"ready":false'), []);
  const everything = made(first);
  return {
    classes: first.value.classes.length,
    everything,
    virtualService,
    endpoint: memo.misses,
    lookedUp: memo.hits,
  };
}

describe("what a compile makes", () => {
  const [small, large] = [count(60), count(120)];

  it("grows with the mesh and not with its square, and hardly for one change", () => {
    expect(large.classes).toBeGreaterThan(1.9 * small.classes);
    expect(large.everything / small.everything).toBeLessThan(large.classes / small.classes + 0.1);
    expect(large.virtualService / small.virtualService).toBeLessThan(1.5);
    expect(large.endpoint / small.endpoint).toBeLessThan(1.1);
  });

  it("is for one change what it touches, and of a class nothing but a row of what it is put together from", () => {
    // A class costs comparisons and no step: what is made is of route tables, gateways, and lists that many classes share.
    expect((large.virtualService - small.virtualService) / (large.classes - small.classes)).toBeLessThan(0.5);
    expect((large.endpoint - small.endpoint) / (large.classes - small.classes)).toBeLessThan(0.1);
    // Resources that many share are gone over in one look.
    expect((large.lookedUp - small.lookedUp) / (large.classes - small.classes)).toBeLessThan(0.5);
  });

  it("keeps every class and list of which nothing is new", () => {
    const files = filesOf(20);
    const compile = createFileCompiler(defaultWorldOptions);
    const edited = files.map((file) =>
      file.file === "app-0.yaml" ? { ...file, text: file.text.replace(/"timeout":"\d+s"/, '"timeout":"77s"') } : file,
    );
    const { classes } = compile(files, []).value;
    expect(compile([...files], []).value.classes.every((one, at) => one === classes[at])).toBe(true);
    for (const [at, { stream, poll }] of compile(edited, []).value.classes.entries()) {
      for (const type of ["clusters", "endpoints", "listeners"] as const) {
        expect(stream[type]).toBe(classes[at]?.stream[type]);
        expect(poll[type]).toBe(classes[at]?.poll[type]);
      }
    }
  });

  it("exchanges the columns of what a change touches, and leaves all others the same objects", () => {
    const files = filesOf(20);
    const compile = createFileCompiler(defaultWorldOptions);
    const edited = files.map((file) =>
      file.file === "app-0.yaml" ? { ...file, text: file.text.replace(/"ready":true/, '"ready":false') } : file,
    );
    const before = compile(files, []).value;
    const after = compile(edited, []).value;
    const columnsThatChanged = Object.entries(after.table?.lists ?? {}).flatMap(([type, { stream, poll }]) => {
      const then = Object.entries(before.table?.lists ?? {}).find(([other]) => other === type)?.[1];
      return [...(stream === then?.stream ? [] : [`${type} stream`]), ...(poll === then?.poll ? [] : [`${type} poll`])];
    });
    // Endpoints stand by themselves in streams, and within their clusters in polls.
    expect(columnsThatChanged).toEqual(["clusters poll", "endpoints stream"]);
    expect(compile([...edited], []).value.table).toBe(after.table);
  });

  it("keeps each list of objects of which nothing is new", () => {
    const compile = createShardCompiler(defaultWorldOptions);
    const loadedOf = (files: readonly SourceFile[]) => compile([{ name: "main", version: "", files }]).loaded;
    const files = filesOf(20);
    const edited = (pattern: RegExp, by: string) =>
      files.map((file) => (file.file === "app-0.yaml" ? { ...file, text: file.text.replace(pattern, by) } : file));
    const first = loadedOf(files);
    const endpoint = loadedOf(edited(/"ready":true/, '"ready":false'));
    expect([endpoint.configs === first.configs, endpoint.objects === first.objects]).toEqual([true, false]);
    const virtualService = loadedOf(edited(/"timeout":"\d+s"/, '"timeout":"77s"'));
    expect(virtualService.configs).not.toBe(endpoint.configs);
    expect(loadedOf(edited(/"timeout":"\d+s"/, '"timeout":"78s"')).objects).toBe(virtualService.objects);
  });

  it("is one cluster and one load assignment for sidecars and gateways that see a service alike", () => {
    const { classes } = createFileCompiler(defaultWorldOptions)(filesOf(20), []).value;
    const outbound = (kind: string) => {
      const { stream } = classes.find(({ id }) => id.startsWith(kind)) ?? classes[0] ?? { stream: undefined };
      return [...resourcesIn(stream?.clusters ?? []), ...resourcesIn(stream?.endpoints ?? [])].filter(({ name }) =>
        name.startsWith("outbound|"),
      );
    };
    const ofSidecar = new Map(outbound("sidecar").map((resource) => [resource.name, resource]));
    const ofGateway = outbound("router");
    expect(ofGateway.length).toBeGreaterThan(40);
    for (const resource of ofGateway) expect(ofSidecar.get(resource.name), resource.name).toBeDefined();
    expect(ofGateway.filter((resource) => !outbound("sidecar").includes(resource))).toEqual([]);
  });
});
