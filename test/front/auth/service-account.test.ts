import { describe, expect, it } from "vitest";
import { readAuthentication } from "../../../lib/front/auth/settings.ts";
import type { CompiledWorld } from "../../../lib/snapshot/compiled.ts";
import { makeSigningKey, publicPart } from "../../../lib/snapshot/head/signing-keys.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { pollBody, testFront } from "../fixtures.ts";
import { clusterToken, nowMs, testKey, tokenOf } from "./keys.ts";

/** A gateway and a workload in one namespace, each of a service account of its own, as `classify` enters them. */
const world: CompiledWorld = {
  ...worldOf({ gateway: { clusters: { g: "1" } }, web: { clusters: { w: "1" } }, none: { clusters: { n: "1" } } }),
  classifier: {
    attributes: ["metadata:SERVICE_ACCOUNT", "namespace", "type"],
    labels: { "*": { keys: ["app"] } },
    classes: {
      '["gateway","shop","router","gateway"]': "gateway",
      '["web","shop","sidecar","web"]': "web",
    },
    defaults: { "sidecar/shop": "none" },
  },
  nodes: [
    { keys: ["gateway-0.shop", "10.0.0.9", "gateway/gateway-0.shop"], classId: "gateway" },
    { keys: ["web-0.shop", "10.0.0.5", "web/web-0.shop"], classId: "web" },
    { keys: ["odd-0.shop", "10.0.0.6", "web/odd-0.shop"], classId: "web" },
  ],
};

const nodeOf = (type: string, pod: string, metadata?: object) => ({
  id: `${type}~10.0.0.9~${pod}.shop~shop.svc.cluster.local`,
  cluster: `${pod}.shop`,
  ...(metadata === undefined ? {} : { metadata }),
});
const NAMESPACE = "shop";
const asGateway = { NAMESPACE, LABELS: { app: "gateway" } };
const asWeb = { NAMESPACE, LABELS: { app: "web" } };

const own = await makeSigningKey("tokens");
const issuing = await testKey("k1");
const authentication = readAuthentication(
  JSON.stringify({
    tokens: { keys: [publicPart(own)] },
    issuers: [{ issuer: "https://cluster.test", audience: "portolan", jwks: { keys: [issuing.publicJwk] } }],
  }),
  { now: () => nowMs },
);
const subject = "system:serviceaccount:shop:web";

describe.each([
  ["a token of our own", () => tokenOf(own, { scope: "node", namespace: "shop", serviceAccount: "web" })],
  ["a token of the cluster's", () => clusterToken(issuing, { subject })],
])("whoever has proven a service account by %s", (_what, token) => {
  const ask = async (claims: object) => {
    const { request, publish } = testFront({ authentication });
    await publish(world);
    const headers = { authorization: `Bearer ${await token()}` };
    const body = pollBody("clusters", claims);
    const response = await request("/v3/discovery:clusters", { method: "POST", body, headers });
    return [response.status, /"name":"(\w)"/.exec(await response.text())?.[1]];
  };

  it.each([
    ["leaves its own out", nodeOf("router", "gateway-0", asGateway), 404],
    ["says its own", nodeOf("router", "gateway-0", { ...asGateway, SERVICE_ACCOUNT: "web" }), 404],
    ["says an empty one", nodeOf("router", "gateway-0", { ...asGateway, SERVICE_ACCOUNT: "" }), 404],
    ["says nothing but a name", nodeOf("router", "gateway-0"), 404],
    ["says nothing in its metadata", nodeOf("router", "gateway-0", {}), 404],
    ["has a free id", { id: "gateway-0.shop", cluster: "" }, 404],
    ["has a free id with its account before it", { id: "gateway/gateway-0.shop", cluster: "" }, 404],
    ["says the other one", nodeOf("router", "gateway-0", { ...asGateway, SERVICE_ACCOUNT: "gateway" }), 403],
    ["says a list", nodeOf("router", "gateway-0", { ...asGateway, SERVICE_ACCOUNT: ["gateway"] }), 403],
    ["says an object", nodeOf("router", "gateway-0", { ...asGateway, SERVICE_ACCOUNT: {} }), 403],
    ["says null", nodeOf("router", "gateway-0", { ...asGateway, SERVICE_ACCOUNT: null }), 403],
  ])("gets nothing of another's class when it %s", async (_how, claims, status) => {
    expect(await ask(claims)).toEqual([status, undefined]);
  });

  it.each([
    ["by what it says", nodeOf("sidecar", "web-1", { ...asWeb, SERVICE_ACCOUNT: "web" }), "w"],
    ["by what it has proven, if it does not say it", nodeOf("sidecar", "web-1", asWeb), "w"],
    ["by its name, if it says nothing", nodeOf("sidecar", "web-0"), "w"],
    ["by its name, if what it says is no class's", nodeOf("sidecar", "odd-0", { NAMESPACE }), "w"],
    ["by its name alone", { id: "web-0.shop", cluster: "" }, "w"],
    ["as any sidecar of its namespace, if nobody knows it", nodeOf("sidecar", "new-0", { NAMESPACE }), "n"],
    ["as any sidecar, under another's name", nodeOf("sidecar", "gateway-0", { NAMESPACE }), "n"],
  ])("gets what is its own %s", async (_how, claims, name) => {
    expect(await ask(claims)).toEqual([200, name]);
  });
});
