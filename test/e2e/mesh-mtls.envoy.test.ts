import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FormName } from "../../lib/mesh/forms.ts";
import { istio, type RunningSidecars, startSidecars } from "./sidecars.ts";

const formNames: readonly FormName[] = ["istio", "shared"];

const policies = (jwks: string) => [
  istio("PeerAuthentication", "security/v1", "default", { mtls: { mode: "STRICT" } }),
  istio("RequestAuthentication", "security/v1", "tokens", {
    selector: { matchLabels: { app: "server" } },
    jwtRules: [{ issuer: "trusted", jwks }],
  }),
  istio("AuthorizationPolicy", "security/v1", "client-only", {
    selector: { matchLabels: { app: "server" } },
    rules: [
      {
        from: [{ source: { principals: ["cluster.local/ns/default/sa/client"] } }],
        to: [{ operation: { paths: ["/open*"] } }],
      },
      {
        from: [{ source: { requestPrincipals: ["trusted/*"] } }],
        to: [{ operation: { paths: ["/tokens*"] } }],
      },
    ],
  }),
];

describe.each(formNames)("two sidecars with certificates, in the %s form", (form) => {
  let mesh: RunningSidecars;

  beforeAll(async () => {
    mesh = await startSidecars(policies, form);
  });

  afterAll(() => mesh.stop());

  it("carry a request over mutual TLS", async () => {
    expect(await mesh.ask("client", "/open/door")).toEqual({ status: 200, body: "the app" });
  });

  it("refuse what no policy allows, and whom none allows", async () => {
    expect((await mesh.ask("client", "/closed")).status).toBe(403);
    expect((await mesh.ask("stranger", "/open/door")).status).toBe(403);
  });

  it("refuse plain text", async () => {
    await expect(mesh.askPlainly("/open/door")).rejects.toThrow();
  });

  it("take a token of a trusted issuer, and refuse one of another or none", async () => {
    const bearer = async (issuer: string) => ({ authorization: `Bearer ${await mesh.token(issuer)}` });
    expect((await mesh.ask("stranger", "/tokens", await bearer("trusted"))).status).toBe(200);
    expect((await mesh.ask("stranger", "/tokens", await bearer("other"))).status).toBe(401);
    expect((await mesh.ask("stranger", "/tokens")).status).toBe(403);
  });
});
