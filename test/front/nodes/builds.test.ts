import { beforeAll, describe, expect, it } from "vitest";
import { buildMember, isIstioClass, shortLists } from "../../../lib/base/proxy-build.ts";
import { bootstrapFor, proxiesIn } from "../../../lib/cli/proxy/bootstrap.ts";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { placeNamed, placeNode } from "../../../lib/front/nodes/place-node.ts";
import { rootAt } from "../../../lib/snapshot/head/head.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { pollBody, type TestFront, testFront } from "../fixtures.ts";

const pod = (name: string, ip: string, image: string) => `---
apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: shop, labels: {app: web, security.istio.io/tlsMode: istio}}
spec: {serviceAccountName: web, containers: [{name: c}, {name: istio-proxy, image: "${image}", args: [proxy, sidecar]}]}
status: {phase: Running, podIP: ${ip}, podIPs: [{ip: ${ip}}], conditions: [{type: Ready, status: "True"}]}
`;
const istioPod = pod("old-0", "10.1.0.1", "registry.example:5000/istio/proxyv2:1.30.3-distroless");
const stockPod = pod("new-0", "10.1.0.2", "envoyproxy/envoy:v1.40.0");
const service = `---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.0.0.1, selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
`;

type Setting = "auto" | "envoy" | "istio";

async function frontOf(setting: Setting, pods: string): Promise<TestFront> {
  const store = memoryStore();
  await writeShard(store, "main", [
    { file: "a.yaml", text: service + pods },
    { file: "portolan.yaml", text: `proxyBuild: ${setting}\n` },
  ]);
  await createRecompiler({ store, publisher: { pace: { settleMs: 0, retentionMs: 0 } } })();
  return testFront({ store });
}

const lists = {
  istio: JSON.parse(shortLists.istio),
  stock: [{ name: "envoy.filters.http.router" }],
  none: undefined,
} as const;

/** Whether its clusters have Istio's filters. */
async function hasFilters(
  asked: TestFront,
  name: string,
  extensions: keyof typeof lists,
  metadata = {},
): Promise<boolean> {
  const node = {
    id: `sidecar~10.1.0.9~${name}.shop~shop.svc.cluster.local`,
    metadata: { NAMESPACE: "shop", LABELS: { app: "web" }, ...metadata },
    extensions: lists[extensions],
  };
  const response = await asked.poll("clusters", pollBody("clusters", node));
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(text).toContain("outbound|80||web.shop");
  return text.includes("istio.metadata_exchange");
}

async function loadedOf({ front }: Pick<TestFront, "front">) {
  const head = await front.heads.current();
  return front.reader.root(rootAt(head ?? expect.fail("nothing is published"), 0));
}

describe("a mesh with Istio's own proxies and stock Envoys", () => {
  let mixed: TestFront;
  beforeAll(async () => {
    mixed = await frontOf("auto", istioPod + stockPod);
  });

  it("has a class of each for pods that are alike but for their image", async () => {
    const loaded = await loadedOf(mixed);
    const classes = await Promise.all(
      ["old-0.shop", "new-0.shop"].map((pod) => placeNamed(mixed.front.reader, loaded, pod)),
    );
    const ids = classes.map((placed) => ("classId" in placed ? placed.classId : ""));
    expect(ids.map(isIstioClass)).toEqual([true, false]);
    expect([...loaded.classes.keys()].filter(isIstioClass)).toEqual([ids[0]]);
  });

  it.each([
    ["old-0", "istio", {}, true],
    ["old-0", "stock", {}, false],
    ["old-0", "stock", { PROXY_BUILD: "istio" }, false],
    ["old-0", "none", {}, false],
    ["old-0", "none", { PROXY_BUILD: "istio" }, true],
    ["new-0", "stock", {}, false],
    ["new-0", "none", {}, false],
  ] as const)("answers %s with the extensions of %s and %j", async (name, extensions, metadata, expected) => {
    expect(await hasFilters(mixed, name, extensions, metadata)).toBe(expected);
  });

  it("gives one of Istio's, whose pod is known as a stock Envoy's, that pod's class until it has its own", async () => {
    expect(await hasFilters(await frontOf("auto", stockPod), "new-0", "istio")).toBe(false);
  });
});

describe("a pod whose name is proven", () => {
  const caller = { kind: "node", subject: "web", namespace: "shop", serviceAccount: "web" } as const;
  const claims = (pod: string, build: "istio" | "envoy", app: string) => ({
    id: `sidecar~10.1.0.9~${pod}.shop~shop.svc.cluster.local`,
    cluster: "",
    locality: "",
    metadata: { NAMESPACE: "shop", SERVICE_ACCOUNT: "web", LABELS: { app } },
    build,
  });

  it.each([
    ["old-0", "istio", true],
    ["old-0", "envoy", false],
    ["new-0", "istio", false],
    ["new-0", "envoy", false],
  ] as const)("gets no class by its labels, whatever it says of its build: %s, %s", async (pod, build, isIstio) => {
    const { front } = await frontOf("auto", istioPod + stockPod);
    const loaded = await loadedOf({ front });
    const placed = (app: string) => placeNode(front.reader, loaded, claims(pod, build, app), { ...caller, pod });
    const [own, other] = [await placed("web"), await placed("other")];
    expect(own).toEqual(other);
    expect("classId" in own && isIstioClass(own.classId)).toBe(isIstio);
  });
});

describe("the bootstrap of a pod with Istio's own proxy", () => {
  it("says nothing of its build: another Envoy may be started on it", () => {
    const [found] = proxiesIn([{ file: "a.yaml", text: service + istioPod }]);
    expect(found?.proxy.metadata.raw[buildMember]).toBe("istio");
    expect(JSON.stringify(bootstrapFor(found ?? expect.fail(), "http://127.0.0.1:1", 0))).not.toContain(buildMember);
  });
});

describe("a mesh whose settings say what its proxies are", () => {
  it("takes silent nodes for Istio's own, and no Envoy whose extensions say otherwise", async () => {
    const asked = await frontOf("istio", stockPod);
    expect(await hasFilters(asked, "new-0", "none")).toBe(true);
    const stock = { id: "sidecar~10.1.0.9~new-0.shop~shop.svc.cluster.local", metadata: { NAMESPACE: "shop" } };
    const response = await asked.poll("clusters", pollBody("clusters", { ...stock, extensions: lists.stock }));
    // There is no class that it could take: it is asked for.
    expect([response.status, (await response.text()).includes("istio.metadata_exchange")]).toEqual([404, false]);
  });

  it("knows no builds at all where it says that all are stock Envoys", async () => {
    const asked = await frontOf("envoy", istioPod);
    expect(await hasFilters(asked, "old-0", "istio")).toBe(false);
    const { classifier, classes } = await loadedOf(asked);
    expect(classifier.attributes.some((attribute) => attribute.startsWith("build"))).toBe(false);
    expect([...classes.keys()].some(isIstioClass)).toBe(false);
  });

  it("has the same classes without Istio's proxies, whether it tells builds apart or not", async () => {
    const [auto, envoy] = [await frontOf("auto", stockPod), await frontOf("envoy", stockPod)];
    const ids = async (asked: TestFront) => [...(await loadedOf(asked)).classes.keys()];
    expect(await ids(auto)).toEqual(await ids(envoy));
  });
});
