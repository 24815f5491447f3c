import { describe, expect, it } from "vitest";
import { fieldsOf } from "../../../lib/base/untyped.ts";
import { createLease } from "../../../lib/collect/status/lease.ts";
import { createStatusWriter } from "../../../lib/collect/status/status-writer.ts";
import type { ToldStatus } from "../../../lib/compile/statuses/newest-statuses.ts";
import { FakeObjects } from "./fake-objects.ts";

const base = "/apis/gateway.networking.k8s.io/v1/namespaces/shop/httproutes";
const told = (name: string, message: string, more: Partial<ToldStatus> = {}): ToldStatus => ({
  object: `HTTPRoute.gateway.networking.k8s.io/shop/${name}`,
  generation: 1,
  uid: name,
  controllers: ["ours"],
  status: {
    parents: [
      {
        parentRef: { name: "edge" },
        controllerName: "ours",
        conditions: [{ type: "Accepted", status: "True", message }],
      },
    ],
  },
  ...more,
});

function writing(names: readonly string[]) {
  const server = new FakeObjects();
  for (const name of names) server.set(`${base}/${name}`, { metadata: { name, uid: name, generation: 1 } });
  const newest = { root: "1", statuses: names.map((name) => told(name, "first")) };
  const lease = createLease({ client: server.client, namespace: "ns", name: "writer", holder: "a" });
  const writer = createStatusWriter({
    client: server.client,
    lease,
    read: async (known) => ({ root: newest.root, statuses: known === newest.root ? undefined : newest.statuses }),
  });
  const statusWrites = () => server.writes.filter((write) => write.endsWith("/status") && write.includes(base));
  return { server, newest, writer, statusWrites };
}

describe("the writer of statuses", () => {
  it("writes those that a compile says something new of, and asks for no other object", async () => {
    const { server, newest, writer, statusWrites } = writing(["a", "b", "c"]);
    await writer.once();
    expect(statusWrites()).toHaveLength(3);
    server.writes.length = 0;
    newest.root = "2";
    newest.statuses = [told("a", "first"), told("b", "second"), told("c", "first")];
    server.objects.delete(`${base}/a`);
    await writer.once();
    expect(statusWrites()).toEqual([`PUT ${base}/b/status`]);
  });

  it("reads again what somebody wrote in between, and loses nothing of it", async () => {
    const { server, writer } = writing(["a"]);
    let turns = 0;
    server.before = (path) => {
      if (path !== `${base}/a` || turns++ > 0) return;
      const parents = [{ controllerName: "theirs", parentRef: { name: "edge" } }];
      server.set(path, { metadata: { name: "a", uid: "a", generation: 1 }, status: { parents } });
    };
    await writer.once();
    expect(fieldsOf(server.objects.get(`${base}/a`)).status).toMatchObject({
      parents: [{ controllerName: "theirs" }, { controllerName: "ours" }],
    });
  });

  it("gives up an object for the moment that is written to all the time, and says so", async () => {
    const { server, writer } = writing(["a"]);
    server.before = (path) => {
      if (path === `${base}/a`) server.set(path, { metadata: { name: "a", uid: "a", generation: 1 } });
    };
    await expect(writer.once()).rejects.toThrow("409");
  });

  it("passes over objects that no server has, and those of another cluster or of another spec", async () => {
    const { newest, writer, statusWrites } = writing(["a", "b", "c"]);
    const { uid: _uid, ...ofFile } = told("a", "first");
    newest.statuses = [ofFile, told("b", "first", { uid: "other" }), told("c", "first", { generation: 2 })];
    await writer.once();
    expect(statusWrites()).toEqual([]);
  });

  it("writes nothing while somebody else holds the lease", async () => {
    const { server, writer, statusWrites } = writing(["a"]);
    await createLease({ client: server.client, namespace: "ns", name: "writer", holder: "b" }).take();
    await expect(writer.once()).rejects.toThrow("another process writes statuses here");
    expect(statusWrites()).toEqual([]);
  });
});
