import { execFileSync } from "node:child_process";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import pino from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { authorityStore } from "../../../lib/ca/authority-store.ts";
import { makeSigner } from "../../../lib/ca/make-signer.ts";
import { admissionSource, admissionTls } from "../../../lib/cli/serve/admission-certificate.ts";
import { startAdmission } from "../../../lib/cli/serve/admission-server.ts";
import type { RunningServer } from "../../../lib/front/node-server.ts";
import { makeWrappingKey } from "../../../lib/secrets/environment-key.ts";
import { wrappingKeys } from "../../../lib/secrets/wrapping-keys.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";

let folder: string;
let server: RunningServer;
const lines: string[] = [];
const at = (name: string) => join(folder, name);

function makePair(name: string): void {
  const files = ["-keyout", at(`${name}.key`), "-out", at(`${name}.crt`)];
  const args = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", `/CN=${name}`, ...files];
  execFileSync("openssl", args, { stdio: "ignore" });
}

async function show(name: string): Promise<void> {
  await copyFile(at(`${name}.key`), at("tls.key"));
  await copyFile(at(`${name}.crt`), at("tls.crt"));
}

/** Name in the certificate that the server shows. */
const shownName = (): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(server.url).port), rejectUnauthorized: false });
    socket.once("error", reject).once("secureConnect", () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-admission-tls-"));
  for (const name of ["first", "second"]) makePair(name);
  await show("first");
  const admission = { port: 0, certificate: at("tls.crt"), key: at("tls.key") };
  const log = pino({}, { write: (line) => void lines.push(line) });
  server = await startAdmission({ store: memoryStore(), settings: { admission }, log, lookMs: 20 });
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

it("shows a certificate that is exchanged without a restart, and keeps it where the next is none", async () => {
  expect(await shownName()).toBe("first");
  await show("second");
  await expect.poll(shownName).toBe("second");
  await writeFile(at("tls.key"), "none");
  await expect.poll(() => lines.join("")).toContain("keep their current certificate");
  expect(await shownName()).toBe("second");
});

it("refuses settings without a certificate, and a key that is another's", () => {
  expect(() => admissionTls({})).toThrow("admission needs admission.certificate and admission.key, or");
  expect(() => admissionTls({ certificate: at("first.crt"), key: at("second.key") })).toThrow(
    "no certificate and its key",
  );
  expect(() => admissionTls({ certificate: "/dev/null", key: at("second.key") })).toThrow("no certificate and its key");
  expect(() => admissionTls({ certificate: at("none"), key: at("second.key") })).toThrow(
    "admission.certificate cannot be read",
  );
});

it("shows a certificate that the CA in the store has made for its names", async () => {
  const store = memoryStore();
  const secretsKey = makeWrappingKey();
  const active = await makeSigner("cluster.local", Date.now());
  const stored = authorityStore(store, wrappingKeys(secretsKey, "secretsKey"));
  await stored.write({ version: 1, trustDomain: "cluster.local", active }, undefined);
  const admission = { port: 0, tlsNames: ["portolan-admission.portolan.svc"] };
  const signed = await startAdmission({ store, settings: { secretsKey, admission }, log: pino({ level: "silent" }) });
  const port = Number(new URL(signed.url).port);
  const trusted = { host: "127.0.0.1", port, servername: admission.tlsNames[0], ca: active.roots.join("") };
  const isAuthorized = await new Promise((resolve, reject) => {
    const socket = connect(trusted, () => {
      resolve(socket.authorized);
      socket.destroy();
    });
    socket.once("error", reject);
  });
  expect(isAuthorized).toBe(true);
  await signed.close();
});

it.each([
  [{ tlsNames: ["a"], certificate: "tls.crt", key: "tls.key" }, "admission.tlsNames excludes"],
  [{ webhooks: ["validating/a"], certificate: "tls.crt", key: "tls.key" }, "admission.webhooks needs"],
])("refuses %j", (admission, message) => {
  expect(() => admissionSource(admission)).toThrow(message);
});
