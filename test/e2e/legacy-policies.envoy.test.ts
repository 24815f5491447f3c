import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { istio, type RunningSidecars, startSidecars } from "./sidecars.ts";

let mesh: RunningSidecars;

/** As they were written for Istio 1.4. */
const policies = (jwks: string) => [
  istio("Policy", "authentication/v1alpha1", "server", {
    targets: [{ name: "server" }],
    peers: [{ mtls: null }],
    origins: [{ jwt: { issuer: "trusted", jwks, triggerRules: [{ includedPaths: [{ prefix: "/tokens" }] }] } }],
    principalBinding: "USE_ORIGIN",
  }),
  istio("ClusterRbacConfig", "rbac/v1alpha1", "default", {
    mode: "ON_WITH_INCLUSION",
    inclusion: { services: ["server.default.svc.cluster.local"] },
  }),
  istio("ServiceRole", "rbac/v1alpha1", "open", {
    rules: [{ services: ["server.*"], methods: ["GET"], paths: ["/open*"] }],
  }),
  istio("ServiceRoleBinding", "rbac/v1alpha1", "clients", {
    subjects: [{ user: "cluster.local/ns/default/sa/client" }],
    roleRef: { kind: "ServiceRole", name: "open" },
  }),
  istio("ServiceRole", "rbac/v1alpha1", "tokens", { rules: [{ services: ["*"], paths: ["/tokens*"] }] }),
  istio("ServiceRoleBinding", "rbac/v1alpha1", "holders", {
    subjects: [{ properties: { "request.auth.principal": "trusted/*" } }],
    roleRef: { kind: "ServiceRole", name: "tokens" },
  }),
];

beforeAll(async () => {
  mesh = await startSidecars(policies);
});

afterAll(() => mesh.stop());

describe("sidecars under policies of Istio 1.4", () => {
  it("carry what a role allows whom it is bound to", async () => {
    expect(await mesh.ask("client", "/open/door")).toEqual({ status: 200, body: "the app" });
  });

  it("refuse what no role allows, and whom none is bound to", async () => {
    expect((await mesh.ask("client", "/closed")).status).toBe(403);
    expect((await mesh.ask("stranger", "/open/door")).status).toBe(403);
  });

  it("refuse plain text where a policy asks for mutual TLS", async () => {
    await expect(mesh.askPlainly("/open/door")).rejects.toThrow();
  });

  it("ask for a token where the trigger rules say so", async () => {
    const bearer = { authorization: `Bearer ${await mesh.token("trusted")}` };
    expect((await mesh.ask("stranger", "/tokens", bearer)).status).toBe(200);
    expect((await mesh.ask("stranger", "/tokens")).status).toBe(403);
    const other = { authorization: `Bearer ${await mesh.token("other")}` };
    expect((await mesh.ask("stranger", "/tokens", other)).status).toBe(401);
  });
});
