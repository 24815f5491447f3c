import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../free-port.ts";
import { shopHost } from "./bookshop.ts";
import { eventually, type RunningEnvoy } from "./envoy.ts";
import { type GuardedShop, openGuardedShop } from "./guarded-shop.ts";

let guarded: GuardedShop;
let envoy: RunningEnvoy;
let simplePort: number;
let mutualPort: number;
let narrowPort: number;

const file = (name: string) => join(guarded.folder, name);
const openssl = (...args: readonly string[]) => execFileSync("openssl", args, { stdio: "ignore" });

/** A certificate that vouches for itself. */
function issue(name: string): void {
  const files = ["-keyout", file(`${name}.key`), "-out", file(`${name}.crt`)];
  const about = ["-days", "2", "-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${shopHost}`];
  openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", ...files, ...about);
}

async function apply(secret: string, pair: string, ca?: string): Promise<void> {
  const base64 = (name: string) => readFileSync(file(name)).toString("base64");
  const data = {
    "tls.crt": base64(`${pair}.crt`),
    "tls.key": base64(`${pair}.key`),
    ...(ca === undefined ? {} : { "ca.crt": base64(`${ca}.crt`) }),
  };
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name: secret, namespace: "bookshop" }, data };
  await writeFile(file("secret.yaml"), JSON.stringify(object));
  await guarded.portolan("secret", "apply", "-f", file("secret.yaml"), "--store", join(guarded.folder, "store"));
}

/** Asks for a page over TLS. @returns who answers, by its certificate, with the status; or the error */
function ask(port: number, client?: string): Promise<string> {
  const own =
    client === undefined ? {} : { cert: readFileSync(file(`${client}.crt`)), key: readFileSync(file(`${client}.key`)) };
  return new Promise((resolve) => {
    const socket: TLSSocket = connect(
      { host: "127.0.0.1", port, servername: shopHost, rejectUnauthorized: false, ...own },
      () => {
        socket.write(`GET /catalog HTTP/1.1\r\nhost: ${shopHost}\r\nconnection: close\r\n\r\n`);
      },
    );
    socket.setTimeout(2_000, () => socket.destroy(new Error("timeout")));
    socket.once("data", (data) => {
      const { subject } = socket.getPeerCertificate();
      resolve(`${subject.CN} ${String(data).slice(9, 12)}`);
      socket.destroy();
    });
    socket.once("error", (error: Error & { readonly code?: string }) => resolve(error.code ?? error.message));
  });
}

beforeAll(async () => {
  simplePort = await freePort();
  mutualPort = await freePort();
  narrowPort = await freePort();
  guarded = await openGuardedShop(async ({ folder }) => {
    const server = (number: number, mode: string, credentialName: string, more = "") =>
      `  - {port: {number: ${number}, name: "https-${number}", protocol: HTTPS}, hosts: [${shopHost}], tls: {mode: ${mode}, credentialName: ${credentialName}${more}}}\n`;
    const text = `apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: tls, namespace: bookshop}
spec:
  selector: {istio: ingressgateway}
  servers:
${server(simplePort, "SIMPLE", "shop-cert")}${server(mutualPort, "MUTUAL", "shop-mutual")}${server(narrowPort, "SIMPLE", "shop-mutual", ", alpnProtocols: [http/1.1, x-shop], ecdhCurves: [P-384]")}---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: tls, namespace: bookshop}
spec:
  hosts: [${shopHost}]
  gateways: [tls]
  http: [{route: [{destination: {host: catalog.bookshop.svc.cluster.local}}]}]
`;
    await writeFile(join(folder, "tls.yaml"), text);
  });
  for (const name of ["first", "second", "client", "stranger"]) issue(name);
  await apply("shop-cert", "first");
  await apply("shop-mutual", "first", "client");
  await guarded.newToken();
  envoy = await guarded.startGateway();
});

afterAll(async () => {
  await envoy.stop();
  await guarded.close();
});

describe("a gateway's credentialName", () => {
  it("gives a real Envoy its certificate, and another one when it is rotated, without a restart", async () => {
    const isFirst = (answer: string) => answer === "first 200";
    expect(await eventually(() => ask(simplePort), isFirst, 20_000)).toBe("first 200");
    await apply("shop-cert", "second");
    await eventually(
      () => ask(simplePort),
      (answer) => answer === "second 200",
      20_000,
    );
  });

  it("lets in with mutual TLS whom the CA vouches for, and nobody else", async () => {
    await eventually(
      () => ask(mutualPort, "client"),
      (answer) => answer === "first 200",
      20_000,
    );
    expect(await ask(mutualPort)).toMatch(/ERR_SSL|ECONNRESET/);
    expect(await ask(mutualPort, "stranger")).toMatch(/ERR_SSL|ECONNRESET/);
  });

  it("offers the protocols and curves of its server, and no others", async () => {
    const handshake = (port: number, options: ConnectionOptions): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect({
          host: "127.0.0.1",
          port,
          servername: shopHost,
          rejectUnauthorized: false,
          ...options,
        });
        socket.once("secureConnect", () => {
          resolve(String(socket.alpnProtocol));
          socket.destroy();
        });
        socket.once("error", () => resolve("refused"));
      });
    const all = { ALPNProtocols: ["h2", "x-shop", "http/1.1"] };
    expect(
      await eventually(
        () => handshake(narrowPort, all),
        (answer) => answer !== "refused",
        20_000,
      ),
    ).toBe("http/1.1");
    expect(await handshake(narrowPort, { ALPNProtocols: ["x-shop"] })).toBe("x-shop");
    expect(await handshake(mutualPort, all)).toBe("h2");
    expect(await handshake(narrowPort, { ecdhCurve: "P-384" })).toBe("false");
    expect(await handshake(narrowPort, { ecdhCurve: "X25519" })).toBe("refused");
  });

  it("leaves no key where Envoy, the store or the front would show it", async () => {
    const key = readFileSync(file("second.key"), "utf8").split("\n")[1] ?? "";
    expect(key.length).toBeGreaterThan(30);
    expect(await envoy.admin("/config_dump")).not.toContain(key);
    const base64 = readFileSync(file("second.key")).toString("base64").slice(100, 160);
    const stored = readdirSync(join(guarded.folder, "store"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
    expect(stored.length).toBeGreaterThan(10);
    expect(stored.filter((text) => text.includes(key) || text.includes(base64))).toEqual([]);
  });
});
