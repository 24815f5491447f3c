import { describe, expect, it } from "vitest";
import { dueSecrets } from "../../../lib/front/ads/due-secrets.ts";
import type { SecretFeed } from "../../../lib/front/secrets/secrets.ts";
import { askedSecrets, type SecretWatch, sentSecrets } from "../../../lib/streams/secret-watch.ts";
import { askedDelta, type DeltaRequest } from "../../../lib/streams/watch.ts";

const many = 500;
const named = Array.from({ length: many }, (_, i) => `kubernetes://secret-${String(i).padStart(3, "0")}`);
const caller = { kind: "node", subject: "web", namespace: "default", serviceAccount: "web" } as const;

function feed() {
  const found: string[] = [];
  const secrets: SecretFeed = {
    async find(_namespace, _question, name) {
      found.push(name);
      return { resource: { name }, serviceAccounts: undefined, clusters: undefined };
    },
  };
  return { found, front: { secrets, trustBundles: async () => ({}) } };
}

const asks = (before: SecretWatch | undefined, request: Partial<DeltaRequest>): SecretWatch =>
  askedSecrets(
    before,
    askedDelta(false, before?.watch, {
      subscribe: [],
      unsubscribe: [],
      known: new Map(),
      nonce: "",
      error: undefined,
      ...request,
    }),
  );

/** Works out what is due at a time, and tells it. */
async function told(front: ReturnType<typeof feed>["front"], watch: SecretWatch, nowMs: number, classNames = named) {
  const secrets = { named: classNames, grants: none, bundles: undefined };
  const due = await dueSecrets(front, { kind: "delta", caller, secrets, nowMs }, watch);
  if (due === undefined) return { watch, changed: [], missing: [] };
  const note = { nonce: "1", names: [], kept: undefined, version: due.version, classId: "c", root: "r" };
  const after = due.isAnswer ? sentSecrets(due, note) : due.after;
  return { watch: after, changed: due.changed.map(({ name }) => name), missing: due.missing };
}
const none: readonly never[] = [];

describe("the secrets of a stream", () => {
  it("are looked up by what a request names, and all of them no more than once a second", async () => {
    const { front, found } = feed();
    let { watch, changed } = await told(front, asks(undefined, { subscribe: named }), 0);
    expect(changed).toEqual(named);
    found.length = 0;
    for (let i = 0; i < 100; i += 1) {
      ({ watch, changed } = await told(front, asks(watch, { subscribe: named.slice(i, i + 1) }), i));
      expect(changed).toEqual(named.slice(i, i + 1));
    }
    expect(found).toHaveLength(100);
    await told(front, watch, 2_000);
    expect(found).toHaveLength(100 + many);
  });

  it("are none of those that no class names, however many are asked for", async () => {
    const { front, found } = feed();
    const strange = Array.from({ length: 5_000 }, (_, i) => `kubernetes://strange-${i}`);
    const first = await told(front, asks(undefined, { subscribe: [...strange, ...named.slice(0, 1)] }), 0);
    expect([first.changed, first.missing]).toEqual([named.slice(0, 1), strange.toSorted()]);
    const again = await told(front, first.watch, 10_000);
    expect([again.changed, again.missing]).toEqual([[], []]);
    expect(found).toEqual([named[0], named[0]]);
  });

  it("come and go with what the class names", async () => {
    const { front } = feed();
    const wanted = asks(undefined, { subscribe: named.slice(0, 2) });
    const first = await told(front, wanted, 0, named.slice(0, 1));
    expect([first.changed, first.missing]).toEqual([named.slice(0, 1), named.slice(1, 2)]);
    const second = await told(front, first.watch, 1, named.slice(1, 2));
    expect([second.changed, second.missing]).toEqual([named.slice(1, 2), named.slice(0, 1)]);
  });

  it("are not told again to a reader that has dropped them", async () => {
    const { front } = feed();
    const first = await told(front, asks(undefined, { subscribe: named.slice(0, 2) }), 0);
    const dropped = asks(first.watch, { unsubscribe: named.slice(0, 1) });
    expect([dropped.has.size, dropped.watch.names]).toMatchObject([1, { size: 1 }]);
    expect((await told(front, dropped, 5_000)).changed).toEqual([]);
    expect((await told(front, asks(dropped, { subscribe: named.slice(0, 1) }), 6_000)).changed).toEqual(
      named.slice(0, 1),
    );
  });
});
