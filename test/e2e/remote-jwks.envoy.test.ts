import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openIssuer } from "../resolve/issuer.ts";
import { openBookshop, rejections, startGateway } from "./bookshop.ts";
import { startDev } from "./dev-process.ts";
import { eventually } from "./envoy.ts";
import { asker } from "./fail-closed-mesh.ts";
import { tokenPolicies } from "./token-policies.ts";

/** Puts the authority of the test in the place of those that the machine trusts. */
const trusting = (port: string, file: string) => `---
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: { name: authority, namespace: bookshop }
spec:
  configPatches:
    - applyTo: CLUSTER
      match: { context: GATEWAY, cluster: { name: "jwks|${port}||localhost" } }
      patch:
        operation: MERGE
        value:
          transport_socket:
            name: envoy.transport_sockets.tls
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
              common_tls_context: { validation_context: { trusted_ca: { filename: "${file}" } } }
`;

describe.each(["rest", "delta"] as const)("a rule that leaves keys to its proxies (%s)", (transport) => {
  it("has them read over TLS that is checked", async () => {
    const [shop, issuer] = await Promise.all([openBookshop(), openIssuer()]);
    const { port } = new URL(issuer.url);
    const policies = tokenPolicies(`{ issuer: "${issuer.url}", jwksUri: "${issuer.jwksUri}" }`).replace(
      "name: tokens,",
      `name: tokens, annotations: { portolan.dev/remote-jwks: "${issuer.url}" },`,
    );
    const authority = join(shop.folder, "authority.pem");
    await writeFile(authority, issuer.caBundle);
    await shop.add("tokens.yaml", policies);
    const dev = await startDev(shop.folder, ["--grpc-port", "0", "--certificates", "none"]);
    const envoy = await startGateway(transport === "rest" ? dev.url : dev.grpcUrl, { transport, certificates: "none" });
    try {
      const ask = asker(shop.port);
      const status = async (token?: string): Promise<number> =>
        (await ask("/catalog", token === undefined ? {} : { authorization: `Bearer ${token}` })).status;
      const answered = (token: string | undefined, wanted: number) =>
        eventually(
          () => status(token),
          (seen) => seen === wanted,
          30_000,
        );
      const token = await issuer.token();
      await answered(undefined, 403);
      // The machine does not trust the issuer's authority: no token is good, and the issuer is never asked over such TLS.
      expect([await status(token), issuer.asked()]).toEqual([401, 0]);
      await shop.edit("tokens.yaml", (text) => text + trusting(port, authority));
      await answered(token, 200);
      expect(await status(`${token.slice(0, -8)}AAAAAAAA`)).toBe(401);
      expect(issuer.asked()).toBeGreaterThan(0);
      expect(await rejections(envoy)).toEqual([]);
    } finally {
      await envoy.stop();
      await dev.stop();
      await Promise.all([shop.close(), issuer.close()]);
    }
  }, 120_000);
});
