import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { secretTypeUrl } from "../../lib/secrets/tls-secret.ts";
import { type KmsServer, startKms } from "../secrets/kms-server.ts";
import { type GuardedShop, openGuardedShop } from "./guarded-shop.ts";

const gateway = `apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: tls, namespace: bookshop}
spec:
  selector: {istio: ingressgateway}
  servers:
  - {port: {number: 8443, name: https, protocol: HTTPS}, hosts: ["*"], tls: {mode: SIMPLE, credentialName: shop-cert}}
`;
const node = {
  id: "router~127.0.0.1~istio-ingressgateway-1.bookshop~bookshop.svc.cluster.local",
  cluster: "istio-ingressgateway.bookshop",
  metadata: { NAMESPACE: "bookshop", LABELS: { istio: "ingressgateway" } },
};

let kms: KmsServer;
let keyArn: string;
let guarded: GuardedShop;

const file = (name: string) => join(guarded.folder, name);
const keyOf = (name: string) => readFileSync(file(`${name}.key`)).toString("base64");

/** Makes a key pair, and has it stored by whoever may encrypt. */
async function apply(pair: string): Promise<void> {
  const files = ["-keyout", file(`${pair}.key`), "-out", file(`${pair}.crt`), "-subj", `/CN=${pair}`];
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  execFileSync("openssl", ["req", ...kind, ...files], { stdio: "ignore" });
  const data = { "tls.crt": readFileSync(file(`${pair}.crt`)).toString("base64"), "tls.key": keyOf(pair) };
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "shop-cert", namespace: "bookshop" }, data };
  writeFileSync(file("secret.yaml"), JSON.stringify(object));
  await guarded.portolan("secret", "apply", "-f", file("secret.yaml"), "--store", file("store"));
}

async function poll(): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${guarded.frontUrl}/v3/discovery:secrets`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${readFileSync(guarded.tokenFile, "utf8").trim()}`,
    },
    body: JSON.stringify({ node, resource_names: ["kubernetes://shop-cert"], type_url: secretTypeUrl }),
  });
  return { status: response.status, text: await response.text() };
}

const decrypts = () => kms.calls.filter((call) => call === "FRONT Decrypt").length;

beforeAll(async () => {
  kms = await startKms();
  keyArn = await kms.createKey();
  await kms.call("CreateAlias", { AliasName: "alias/portolan", TargetKeyId: keyArn });
  kms.allowed.set("WRITER", ["Encrypt"]).set("FRONT", ["Decrypt"]);
  guarded = await openGuardedShop(({ folder }) => writeFile(join(folder, "tls.yaml"), gateway), {
    portolan: { ...kms.environment("WRITER"), PORTOLAN_SECRETS_KEY: "aws-kms:alias/portolan" },
    front: { ...kms.environment("FRONT"), PORTOLAN_SECRETS_KEY: `aws-kms:${keyArn}` },
  });
  await apply("first");
  await guarded.newToken();
}, 180_000);

afterAll(async () => {
  await guarded?.close();
  await kms?.close();
});

describe("a gateway's secret that AWS KMS wraps, written by who may encrypt and served by who may decrypt", () => {
  it("is served by a front that asks KMS once, and once again after a restart", async () => {
    for (let round = 0; round < 5; round += 1) {
      expect(await poll()).toMatchObject({ status: 200, text: expect.stringContaining(keyOf("first")) });
    }
    expect(decrypts()).toBe(1);
    await guarded.restartFront();
    expect(await poll()).toMatchObject({ status: 200, text: expect.stringContaining(keyOf("first")) });
    expect(decrypts()).toBe(2);
  });

  it("is another one within seconds when it is rotated", async () => {
    await apply("second");
    await expect.poll(async () => (await poll()).text, { timeout: 15_000 }).toContain(keyOf("second"));
    expect(decrypts()).toBe(3);
  });

  it("is served on for a while when its key is disabled, and by no front that starts then", async () => {
    await kms.call("DisableKey", { KeyId: keyArn.replace(/.*\//, "") });
    expect(await poll()).toMatchObject({ status: 200, text: expect.stringContaining(keyOf("second")) });
    await guarded.restartFront();
    const { status, text } = await poll();
    expect([status, JSON.parse(text).detail]).toEqual([
      503,
      "the secret kubernetes://shop-cert cannot be opened now; see the front's log for the reason",
    ]);
    await expect
      .poll(() => guarded.logged.join("\n"), { timeout: 10_000 })
      .toContain(`the secret bookshop/shop-cert: AWS KMS has the key ${keyArn} disabled: enable it, or take another`);
    expect(await fetch(`${guarded.frontUrl}/healthz`)).toMatchObject({ status: 200 });
    await kms.call("EnableKey", { KeyId: keyArn.replace(/.*\//, "") });
    await expect.poll(async () => (await poll()).status, { timeout: 20_000 }).toBe(200);
  });
});
