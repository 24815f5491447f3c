import { expect, it } from "vitest";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { withoutSecrets } from "../../../lib/config/secrets/without-secrets.ts";

it("a RequestAuthentication whose symmetric key was left out closes what it selects", () => {
  const jwks = JSON.stringify({ keys: [{ kty: "oct", k: "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0" }] });
  const text = `apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: { name: tokens, namespace: shop }
spec:
  selector: { matchLabels: { app: web } }
  jwtRules: [{ issuer: "https://issuer.example", jwks: '${jwks}' }]
`;
  const { configs, closed } = readFiles(withoutSecrets([{ file: "a.yaml", text }]));
  expect(configs).toEqual([]);
  expect(closed).toHaveLength(1);
  expect(JSON.stringify(closed)).toContain('"app":"web"');
});
