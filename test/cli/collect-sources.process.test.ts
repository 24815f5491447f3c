import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer as createPlain, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import picocolors from "picocolors";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readConsulAddress } from "../../lib/cli/collect/collect-consul.ts";
import { runCli } from "../../lib/cli/program.ts";
import { createSourcesReader } from "../../lib/compile/shards/read-sources.ts";
import { isCollected } from "../../lib/compile/shards/shard.ts";
import { openStore } from "../../lib/storage/open-store.ts";
import { startDev } from "../e2e/dev-process.ts";
import { entry, startTestSource, type TestSource } from "../mcp/test-source.ts";
import { FakeConsul } from "../registry/consul/fake-consul.ts";

const closing: (() => unknown)[] = [];
let folder: string;
let runs = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-collect-"));
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A store of its own for each run. */
const newStore = (): string => {
  runs += 1;
  return join(folder, `store-${runs}`);
};

async function portolan(...words: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const lines: string[] = [];
  const tell = (line: string) => lines.push(line);
  const terminal = { out: tell, err: tell, colours: picocolors.createColors(false) };
  const code = await runCli(["node", "portolan", ...words], terminal);
  return { code, text: lines.join("\n") };
}

/** Keys of what a source of a store holds. */
async function held(store: string, source: string): Promise<readonly string[]> {
  const shards = await createSourcesReader(await openStore(store))([]);
  const shard = shards.find(({ name }) => name === source);
  return shard !== undefined && isCollected(shard) ? [...shard.objects.keys()] : [];
}

function answerFrom(consul: FakeConsul, seen: (request: IncomingMessage) => void) {
  return async (request: IncomingMessage, response: ServerResponse) => {
    seen(request);
    const answer = await consul.fetch(`http://consul.test${request.url}`);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(await answer.text());
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // a TCP server's address is never a text
  return port;
}

describe("portolan collect consul", () => {
  it("fills a source of its own, with the token that a file holds", async () => {
    const consul = new FakeConsul();
    consul.set("reviews", [{ id: "r1", passing: true }]);
    const tokens = new Set<unknown>();
    const answer = answerFrom(consul, ({ headers }) => tokens.add(headers["x-consul-token"]));
    const port = await listen(createPlain(answer));
    const store = newStore();
    await writeFile(join(folder, "token"), "s3same\n");
    const options = ["--once", "--no-compile", "--store", store, "--token-file", join(folder, "token")];
    const { code, text } = await portolan("collect", "consul", "--address", `127.0.0.1:${port}`, ...options);
    expect(text).toContain("pushed");
    expect(code).toBe(0);
    expect(await held(store, "consul")).toEqual(["dc1/reviews"]);
    expect(tokens).toEqual(new Set(["s3same"]));
  });

  it("leaves a source as it was when Consul cannot be read", async () => {
    const store = newStore();
    const gone = ["--address", "http://127.0.0.1:1", "--once", "--store", store];
    const { code, text } = await portolan("collect", "consul", ...gone);
    expect(code).toBe(1);
    expect(text).toMatch(/source consul was left as it was: own: .*ECONNREFUSED/);
  });

  it("trusts an authority of one's own, and shows a certificate", async () => {
    const file = (name: string) => join(folder, name);
    const openssl = (...args: readonly string[]) => execFileSync("openssl", args, { stdio: "ignore" });
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
    const made = ["-newkey", "rsa:2048", "-nodes", "-days", "2"];
    openssl("req", "-x509", ...made, "-keyout", file("key.pem"), "-out", file("cert.pem"), ...subject);
    const [key, cert] = [await readFile(file("key.pem")), await readFile(file("cert.pem"))];
    const consul = new FakeConsul();
    consul.set("reviews", [{ id: "r1", passing: true }]);
    const peers = new Set<unknown>();
    const answer = answerFrom(consul, ({ socket }) =>
      peers.add((socket as TLSSocket).getPeerCertificate().subject?.CN),
    ); // every socket of this server is one
    const server = createServer({ key, cert, ca: cert, requestCert: true, rejectUnauthorized: true }, answer);
    const address = `https://127.0.0.1:${await listen(server)}`;
    const common = ["collect", "consul", "--address", address, "--once", "--no-compile"];
    const store = newStore();
    const trusted = ["--ca", file("cert.pem"), "--certificate", file("cert.pem"), "--key", file("key.pem")];
    expect((await portolan(...common, "--store", store, ...trusted)).code).toBe(0);
    expect(await held(store, "consul")).toEqual(["dc1/reviews"]);
    expect(peers).toEqual(new Set(["localhost"]));
    const stranger = await portolan(...common, "--store", newStore());
    expect(stranger.code).toBe(1);
    expect(stranger.text).toContain("self-signed certificate");
    const half = await portolan(...common, "--store", newStore(), "--certificate", file("cert.pem"));
    expect(half.text).toContain("--certificate and --key");
  });

  it.each([
    ["127.0.0.1:8500", "http://127.0.0.1:8500"],
    ["https://consul.internal:8501/", "https://consul.internal:8501"],
    ["http://gate/consul", "http://gate/consul"],
    ["ftp://consul", undefined],
    ["http://user:word@consul", undefined],
  ])("reads the address %s as %s", (text, want) => {
    if (want === undefined) expect(() => readConsulAddress(text)).toThrow("an address of Consul");
    else expect(readConsulAddress(text)).toBe(want);
  });
});

describe("portolan collect mcp", () => {
  const collection = "istio/networking/v1alpha3/serviceentries";

  /** Answers whatever is asked until the test ends, of ServiceEntries with one. */
  function serve(source: TestSource): void {
    const answered = new Set<string>();
    const timer = setInterval(() => {
      const [stream] = source.streams;
      for (const { collection: name } of stream?.requests ?? []) {
        if (answered.has(name)) continue;
        answered.add(name);
        const resources = name === collection ? [entry("public/Reviews.nacos", "reviews.nacos")] : [];
        stream?.push({ collection: name, nonce: name, resources });
      }
    }, 2);
    closing.push(() => clearInterval(timer));
  }

  it("fills a source with what the server holds", async () => {
    const source = await startTestSource();
    closing.push(source.close);
    const store = newStore();
    const address = source.url.replace("http://", "mcp://");
    serve(source);
    const done = portolan(
      "collect",
      "mcp",
      "--address",
      address,
      "--settle",
      "0",
      "--once",
      "--no-compile",
      "--store",
      store,
    );
    expect(await done).toMatchObject({ code: 0 });
    expect(await held(store, "mcp")).toEqual(["ServiceEntry/public/Reviews.nacos"]);
  });

  it.each([
    [["--address", "http://nacos:1"], 2, "a source is xds://host:port"],
    [["--address", "fs:///etc/mesh"], 2, "`portolan collect dir` reads that"],
    [
      ["--address", "xds://nacos:1", "--kinds", "Policy"],
      1,
      "Policy is no kind that MCP over xDS has; it has ServiceEntry",
    ],
    [["--address", "nacos:1", "--kinds", "Telemetry"], 1, "Telemetry is no kind that ResourceSource has"],
  ])("says what is wrong with %j", async (words, code, message) => {
    const told = await portolan("collect", "mcp", ...words, "--once", "--store", newStore());
    expect(told.code).toBe(code);
    expect(told.text).toContain(message);
  });

  it("is what dev does for configSources of the mesh's settings", async () => {
    const source = await startTestSource();
    closing.push(source.close);
    const mesh = await mkdtemp(join(folder, "mesh-"));
    const { host } = new URL(source.url);
    await writeFile(join(mesh, "mesh.yaml"), `configSources: [{ address: "${host}" }]\n`);
    await writeFile(
      join(mesh, "namespace.yaml"),
      "apiVersion: v1\nkind: Namespace\nmetadata: { name: shop, labels: { istio-injection: enabled } }\n",
    );
    // Nothing is published before the server was heard.
    serve(source);
    const dev = await startDev(mesh);
    closing.push(dev.stop);
    expect(await held(join(mesh, ".store"), host.replace(":", "-"))).toEqual(["ServiceEntry/public/Reviews.nacos"]);
  });
});
