import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { makeWrappingKey } from "../../../lib/secrets/environment-key.ts";
import { secretStore } from "../../../lib/secrets/secret-store.ts";
import { wrappingKeys } from "../../../lib/secrets/wrapping-keys.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";
import { runPortolan } from "../run-portolan.ts";

const folder = mkdtempSync(join(tmpdir(), "portolan-secrets-"));
afterAll(() => rmSync(folder, { recursive: true }));
const store = join(folder, "store");

const gateway = (credential: string) => `apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: edge, namespace: shop }
spec:
  selector: { istio: edge }
  servers:
    - port: { number: 443, name: https, protocol: HTTPS }
      hosts: ["shop.example.com"]
      tls: { mode: SIMPLE, credentialName: ${credential} }
---
apiVersion: v1
kind: Pod
metadata: { name: edge-1, namespace: edge, labels: { istio: edge } }
spec: { serviceAccountName: edge, containers: [{ name: istio-proxy, image: envoy, args: [proxy, router] }] }
status: { podIP: 10.0.0.1, phase: Running }
`;

const service = `apiVersion: v1
kind: Service
metadata: { name: web, namespace: shop }
spec: { ports: [{ name: http, port: 80 }] }
`;

function pushed(text: string) {
  const mesh = mkdtempSync(join(folder, "mesh-"));
  writeFileSync(join(mesh, "shop.yaml"), text);
  return runPortolan("push", mesh, "--store", store);
}

describe("push and status", () => {
  it("name the secret that a gateway asks for and the store does not have, until it is stored", async () => {
    const missing = /1 secret missing in the store: edge\/shop-cert; .* answer no TLS.*portolan secret apply/;
    expect((await pushed(gateway("shop-cert"))).err).toMatch(missing);
    expect((await runPortolan("status", "--store", store)).out).toMatch(missing);
    const json = JSON.parse((await runPortolan("status", "--store", store, "--json")).out);
    expect(json.missingSecrets).toEqual([{ namespace: "edge", name: "shop-cert", ca: false }]);
    const key = { namespace: "edge", name: "shop-cert" };
    const pair = { values: { "tls.crt": "eA==", "tls.key": "eQ==" } };
    await secretStore(fileStore(store), wrappingKeys(makeWrappingKey(), "KEY")).put(key, pair);
    expect((await runPortolan("status", "--store", store)).out).not.toContain("missing");
    expect((await pushed(gateway("shop-cert"))).err).not.toMatch(/missing|IST0101/);
  });

  it("say what to add where no proxy is known", async () => {
    expect((await pushed(service)).err).toMatch(
      /no proxy is known, .*istio-injection: enabled.*proxies in portolan\.yaml/,
    );
    expect((await pushed(gateway("shop-cert"))).err).not.toContain("no proxy is known");
  });
});
