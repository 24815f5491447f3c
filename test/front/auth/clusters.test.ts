import { beforeAll, describe, expect, it } from "vitest";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { readAuthentication } from "../../../lib/front/auth/settings.ts";
import { nodeStates } from "../../../lib/front/nodes/in-force.ts";
import { placeNamed } from "../../../lib/front/nodes/place-node.ts";
import { rootAt } from "../../../lib/snapshot/head/head.ts";
import { wantedPrefix } from "../../../lib/snapshot/nodes/wanted.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { pollBody, testFront } from "../fixtures.ts";
import { clusterToken, nowMs, type TestKey, testKey } from "./keys.ts";

const pod = (name: string, ip: string, app: string) => `---
apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: shop, labels: {app: ${app}, security.istio.io/tlsMode: istio}}
spec: {serviceAccountName: db, containers: [{name: c, ports: [{containerPort: 8080}]}, {name: istio-proxy}]}
status: {phase: Running, podIP: ${ip}, podIPs: [{ip: ${ip}}], conditions: [{type: Ready, status: "True"}]}
`;
const service = (name: string, ip: string) => `---
apiVersion: v1
kind: Service
metadata: {name: ${name}, namespace: shop}
spec: {clusterIP: ${ip}, selector: {app: ${name}}, ports: [{name: http, port: 80, targetPort: 8080}]}
`;
const deny = (app: string) => `---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: ${app}, namespace: shop}
spec: {selector: {matchLabels: {app: ${app}}}, action: DENY, rules: [{to: [{operation: {paths: [/of-${app}]}}]}]}
`;

/** Two clusters with a pod of one name, namespace, service account and address each, which are of two workloads. */
async function storeOf(): Promise<ObjectStore> {
  const store = memoryStore();
  await writeShard(store, "main", [
    {
      file: "a.yaml",
      text: service("vault", "10.0.0.1") + pod("db-0", "10.1.0.1", "vault") + deny("vault") + deny("toy"),
    },
    { file: "clusters/east.yaml", text: service("toy", "10.8.0.1") + pod("db-0", "10.1.0.1", "toy") },
  ]);
  await createRecompiler({ store, publisher: { pace: { settleMs: 0, retentionMs: 0 } } })();
  return store;
}

const subject = "system:serviceaccount:shop:db";
type Cluster = "Kubernetes" | "east";

describe("a pod whose name another cluster has, too", () => {
  let store: ObjectStore;
  let keys: Readonly<Record<Cluster, TestKey>>;
  beforeAll(async () => {
    store = await storeOf();
    keys = { Kubernetes: await testKey("k1", "ES256"), east: await testKey("k2", "ES256") };
  });

  const issuerOf = (cluster: Cluster) => `https://${cluster.toLowerCase()}.test`;
  const front = (says: boolean) =>
    testFront({
      store,
      authentication: readAuthentication(
        JSON.stringify({
          issuers: (["Kubernetes", "east"] as const).map((cluster) => ({
            issuer: issuerOf(cluster),
            audience: "portolan",
            ...(says ? { clusterId: cluster } : {}),
            jwks: { keys: [keys[cluster].publicJwk] },
          })),
        }),
        { now: () => nowMs },
      ),
    });
  const nodeOf = (metadata: object, name = "db-0") => ({
    id: `sidecar~10.1.0.1~${name}.shop~shop.svc.cluster.local`,
    cluster: "db.shop",
    metadata,
  });
  const nodeIn = (cluster: unknown, app: string, name?: string) =>
    nodeOf(
      {
        NAMESPACE: "shop",
        LABELS: { app, "security.istio.io/tlsMode": "istio" },
        SERVICE_ACCOUNT: "db",
        ...(cluster === undefined ? {} : { CLUSTER_ID: cluster }),
      },
      name,
    );

  /** Whose DENY policies its listeners have. */
  async function policiesOf(asked: ReturnType<typeof testFront>, token: string | undefined, node: object) {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await asked.poll("listeners", pollBody("listeners", node), headers);
    const text = await response.text();
    return [response.status, ...["vault", "toy"].filter((app) => text.includes(`/of-${app}`))];
  }
  const tokenOf = (cluster: Cluster, withPod: string | undefined) =>
    clusterToken(keys[cluster], {
      issuer: issuerOf(cluster),
      subject,
      ...(withPod === undefined ? {} : { pod: withPod }),
    });

  it.each([
    ["Kubernetes", "vault"],
    ["east", "toy"],
  ] as const)("gets the class of its own cluster's pod: %s", async (cluster, app) => {
    const token = await tokenOf(cluster, "db-0");
    expect(await policiesOf(front(true), token, nodeIn(cluster, app))).toEqual([200, app]);
    expect(await policiesOf(front(true), token, nodeIn(undefined, app))).toEqual([200, app]);
    expect(await policiesOf(front(true), token, nodeOf({}))).toEqual([200, app]);
    // What it says of its labels decides nothing.
    const other = app === "vault" ? "toy" : "vault";
    expect(await policiesOf(front(true), token, nodeIn(cluster, other))).toEqual([200, app]);
  });

  it.each([
    ["Kubernetes", "vault"],
    ["east", "toy"],
  ] as const)("gets it without authentication, too, where it says its cluster: %s", async (cluster, app) => {
    const open = testFront({ store });
    expect(await policiesOf(open, undefined, nodeOf({ CLUSTER_ID: cluster }))).toEqual([200, app]);
  });

  it("is not taken for the other where it says no cluster and proves none", async () => {
    const [status, ...policies] = await policiesOf(testFront({ store }), undefined, nodeOf({}));
    expect([status, policies]).toEqual([200, []]);
    const token = await tokenOf("east", "db-0");
    expect(await policiesOf(front(false), token, nodeOf({}))).toEqual([200]);
    // What it says of its cluster counts as long as nothing more is proven.
    expect(await policiesOf(front(false), token, nodeIn("east", "toy"))).toEqual([200, "toy"]);
  });

  it.each([["Kubernetes"], [0], [null], [["Kubernetes"]], [{}]])(
    "of a proven cluster is refused when it says %j for it",
    async (said) => {
      const token = await tokenOf("east", undefined);
      expect((await policiesOf(front(true), token, nodeIn(said, "vault", "x-1")))[0]).toBe(403);
    },
  );

  it.each([[undefined], [""], ["east"]])(
    "of a proven cluster gets nothing of another one's when it says %j for it",
    async (said) => {
      const token = await tokenOf("east", undefined);
      const policies = await policiesOf(front(true), token, nodeIn(said, "vault", "x-1"));
      expect(policies).not.toContain("vault");
      expect(policies[0]).toBe(200);
    },
  );

  it("asks for a class in the cluster that it has proven", async () => {
    const asked = testFront({ store, onWanted: async () => {}, ...authenticated() });
    const token = await tokenOf("east", undefined);
    const response = await asked.poll("listeners", pollBody("listeners", nodeIn(undefined, "vault", "x-1")), {
      authorization: `Bearer ${token}`,
    });
    expect(response.status).toBe(503);
    const records: string[] = [];
    for await (const { key } of store.list(wantedPrefix)) {
      const found = await store.get(key);
      if (found.kind === "found") records.push(new TextDecoder().decode(found.bytes));
    }
    expect(records.map((text) => JSON.parse(text).metadata.CLUSTER_ID)).toEqual(["east"]);
  });

  const authenticated = () => ({ authentication: front(true).front.authentication });

  it("is named with its cluster where people look it up", async () => {
    const { front: open, request } = testFront({ store });
    const head = await open.heads.current();
    const loaded = await open.reader.root(rootAt(head ?? { steps: [] }, Number.POSITIVE_INFINITY));
    const named = async (name: string) => {
      const placement = await placeNamed(open.reader, loaded, name);
      return placement.kind === "placed" ? placement.classId : placement.kind;
    };
    expect(await named("db-0.shop")).toBe("unplaced");
    const [inPrimary, inEast] = [await named("db-0.shop@Kubernetes"), await named("db-0.shop@east")];
    expect(new Set([inPrimary, inEast, "unplaced"]).size).toBe(3);
    for (const [id, name] of [
      [inPrimary, "db-0.shop@Kubernetes"],
      [inEast, "db-0.shop@east"],
    ] as const) {
      expect(await (await request(`/api/classes/${id}`)).json()).toMatchObject({ page: [name] });
      expect((await request(`/api/resources?node=${name}&type=listeners`)).status).toBe(200);
    }
    expect((await request("/api/resources?node=db-0.shop&type=listeners")).status).toBe(404);
  });

  it("is named by its id and its cluster, too", async () => {
    const { front: open, request } = testFront({ store });
    const head = (await open.heads.current()) ?? { generation: 0, publication: "", steps: [] };
    const root = rootAt(head, Number.POSITIVE_INFINITY);
    const loaded = await open.reader.root(root);
    const { id: node } = nodeOf({});
    const classes: unknown[] = [];
    for (const cluster of ["Kubernetes", "east"]) {
      const byName = await placeNamed(open.reader, loaded, `db-0.shop@${cluster}`);
      expect(byName).toEqual({ kind: "placed", classId: expect.any(String) });
      expect(await placeNamed(open.reader, loaded, `${node}@${cluster}`)).toEqual(byName);
      const listed = async (name: string) => (await request(`/api/resources?node=${name}&type=listeners`)).json();
      expect(await listed(`${node}@${cluster}`)).toEqual(await listed(`db-0.shop@${cluster}`));
      const heard = { seen: new Date(0).toISOString(), isOpen: true, pauseMs: 0 };
      const inForce = { reader: open.reader, head, nowMs: Number.POSITIVE_INFINITY };
      const [active] = await nodeStates(inForce, [{ node, cluster, ...heard, resources: [] }], { nowMs: 0 });
      expect(active).toMatchObject({ node, cluster, class: byName.kind === "placed" ? byName.classId : "" });
      classes.push(active?.class);
    }
    expect(new Set(classes).size).toBe(2);
    // Of no cluster that has it: its namespace's default, as without one.
    expect(await placeNamed(open.reader, loaded, `${node}@west`)).toEqual(await placeNamed(open.reader, loaded, node));
  });
});
