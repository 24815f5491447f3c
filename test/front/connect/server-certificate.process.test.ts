import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveGrpc } from "../../../lib/front/connect/grpc-server.ts";
import {
  type CertificateSource,
  certificateFiles,
  keepCertificate,
  type ServerPair,
} from "../../../lib/front/connect/server-certificate.ts";
import { testFront } from "../fixtures.ts";

const folder = mkdtempSync(join(tmpdir(), "portolan-tls-"));
const path = (name: string) => join(folder, name);

function makePair(name: string): void {
  const form = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", `/CN=${name}`];
  const files = ["-keyout", path(`${name}.key`), "-out", path(`${name}.crt`)];
  execFileSync("openssl", ["req", "-x509", ...form, ...files], { stdio: "ignore" });
}

beforeAll(() => {
  for (const name of ["first", "second"]) makePair(name);
});
afterAll(() => rmSync(folder, { recursive: true }));

const pairOf = async (name: string): Promise<ServerPair> =>
  (await certificateFiles(path(`${name}.crt`), path(`${name}.key`)).read()).pair;

/** What a server shows to a new connection: its certificate's name and the protocol that both speak. */
function shown(url: string): Promise<string> {
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: Number(port), rejectUnauthorized: false, ALPNProtocols: ["h2"] });
    socket.once("secureConnect", () => {
      resolve(`${socket.getPeerCertificate().subject.CN} ${socket.alpnProtocol} ${socket.getProtocol()}`);
      socket.destroy();
    });
    socket.once("error", reject);
  });
}

describe("keepCertificate", () => {
  it("has a server show a new certificate to the next connection, and keeps the one before when the new is none", async () => {
    const [first, second] = [await pairOf("first"), await pairOf("second")];
    const { promise: wrongIsHeard, resolve: hear } = Promise.withResolvers<unknown>();
    /** What the source gives, one after the other; the last is given on. */
    const steps: readonly ServerPair[] = [first, { ...second, key: first.key }];
    let reads = 0;
    const source: CertificateSource = {
      async read() {
        const pair = steps[Math.min(reads, steps.length - 1)] ?? first;
        reads += 1;
        return { pair, againMs: 1 };
      },
    };
    const kept = await keepCertificate(source, hear);
    const { front } = testFront();
    const server = await serveGrpc(front, 0, "127.0.0.1", kept);
    expect(await shown(server.url)).toBe("first h2 TLSv1.3");
    expect(String(await wrongIsHeard)).toContain("certificate and key cannot be used");
    expect(String(await wrongIsHeard)).not.toContain("PRIVATE");
    expect(await shown(server.url)).toBe("first h2 TLSv1.3");
    front.close();
    await server.close();
  });

  it("takes the pair that lies in the files since", async () => {
    for (const end of ["crt", "key"]) copyFileSync(path(`first.${end}`), path(`used.${end}`));
    const files = certificateFiles(path("used.crt"), path("used.key"));
    const often: CertificateSource = { read: async () => ({ ...(await files.read()), againMs: 1 }) };
    const kept = await keepCertificate(often, (cause) => {
      // Between the two writes below the files are of two pairs.
      expect(String(cause)).toContain("cannot be used");
    });
    const applied = Promise.withResolvers<ServerPair>();
    const { front } = testFront();
    const server = await serveGrpc(front, 0, "127.0.0.1", { ...kept, follow: followed });
    function followed(apply: (pair: ServerPair) => void): void {
      kept.follow((pair) => {
        apply(pair);
        applied.resolve(pair);
      });
    }
    expect(await shown(server.url)).toContain("first");
    for (const end of ["key", "crt"]) copyFileSync(path(`second.${end}`), path(`used.${end}`));
    await applied.promise;
    expect(await shown(server.url)).toContain("second");
    front.close();
    await server.close();
  });

  it("refuses to start without a pair", async () => {
    writeFileSync(path("empty.crt"), "");
    const broken = certificateFiles(path("empty.crt"), path("first.key"));
    await expect(keepCertificate(broken, () => {})).rejects.toThrow("cannot be used");
    await expect(keepCertificate(certificateFiles(path("none.crt"), path("first.key")), () => {})).rejects.toThrow(
      "cannot read",
    );
  });
});
