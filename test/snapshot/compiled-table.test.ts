import { describe, expect, it } from "vitest";
import { type CompiledList, noList } from "../../lib/snapshot/compiled.ts";
import { compiledTable } from "../../lib/snapshot/compiled-table.ts";
import { createColumns } from "../../lib/snapshot/worlds/columns.ts";
import { createWorldEncoder } from "../../lib/snapshot/worlds/encode-world.ts";
import { resource, worldOf } from "./worlds.ts";

const listOf = (...names: readonly string[]): CompiledList => [names.map((name) => resource("clusters", name, "1"))];

const [shared, other] = [listOf("outbound|1||x"), listOf("outbound|2||x")];
const clusters = { stream: [shared, shared], poll: [shared, other] };

describe("classes that are put together from columns", () => {
  const table = compiledTable(["class-a", "class-b"], { clusters });
  const world = { ...worldOf({}), classes: table.classes, table };

  it("have of each type the list of their row, and none of a type that is not there", () => {
    const [first, second] = table.classes;
    expect(first?.stream.clusters).toBe(shared);
    expect(second?.poll.clusters).toBe(other);
    expect(second?.poll.routes).toBe(noList);
    expect(Object.keys(second?.poll ?? {})).toEqual(["clusters", "endpoints", "listeners", "routes"]);
  });

  it("say of what few have only where it is there", () => {
    const names = { stream: [noList, shared], poll: [noList, noList] };
    const [first, second] = compiledTable(["class-a", "class-b"], { clusters, name_tables: names }).classes;
    expect(first?.stream).not.toHaveProperty("name_tables");
    expect(second?.stream.name_tables).toBe(shared);
    expect(second?.poll).not.toHaveProperty("name_tables");
  });

  it("are written the same whether or not the world has them as a table too", () => {
    const { table: _table, ...without } = world;
    const [one, two] = [createWorldEncoder().encode(world), createWorldEncoder().encode(without)];
    expect(one.rootBlob.hash).toBe(two.rootBlob.hash);
  });

  it("count, not a table of others, in a world that was made of another one", () => {
    const [first] = table.classes;
    const changed = { ...world, classes: first === undefined ? [] : [first] };
    expect(createColumns().of(changed).clusters).toEqual([shared, shared]);
    expect(createWorldEncoder().encode(changed).rootBlob.hash).not.toBe(
      createWorldEncoder().encode(world).rootBlob.hash,
    );
  });

  it("have one column as long as its lists are the same", () => {
    const columns = createColumns();
    const again = compiledTable(["class-a", "class-b"], {
      clusters: { ...clusters },
      routes: { stream: [other, other], poll: [other, other] },
    });
    const [before, after] = [columns.of(world), columns.of({ ...world, classes: again.classes, table: again })];
    expect(after.clusters).toBe(before.clusters);
    expect(after.endpoints).toBe(before.endpoints);
    expect(after.routes).not.toBe(before.routes);
  });
});
