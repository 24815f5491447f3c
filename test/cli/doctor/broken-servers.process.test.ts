import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PortolanError } from "../../../lib/base/diagnostic.ts";
import { frontApp } from "../../../lib/front/app.ts";
import { undecidedAuthentication } from "../../../lib/front/auth/authentication.ts";
import { createFront, type FrontOptions } from "../../../lib/front/front.ts";
import { serveHttp } from "../../../lib/front/node-server.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { createAuthority, issueServer } from "../../e2e/certificates.ts";
import { freePort } from "../../free-port.ts";
import { doctor, gateway, listening, publishedShop } from "./deployments.ts";

const closing: (() => unknown)[] = [];
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-doctor-"));
});
afterAll(async () => {
  for (const close of closing) await close();
  await rm(folder, { recursive: true, force: true });
});

const healthy = JSON.stringify({ generation: 1, publication: "0".repeat(64) });

/** A server that answers as it is told. */
async function serving(listener: RequestListener): Promise<string> {
  const server = await listening(createServer(listener));
  closing.push(server.close);
  return `http://localhost:${server.port}`;
}

async function frontOf(options: FrontOptions): Promise<string> {
  const front = createFront(options);
  const server = await serveHttp(frontApp(front), 0);
  closing.push(() => front.close(), server.close);
  return server.url;
}

describe("portolan doctor, of TLS that no Envoy would trust", () => {
  /** @returns the URL and the authority of a server that would answer well */
  async function secure(name: string, days?: number, host = "localhost") {
    const authority = createAuthority(join(folder, `${name}${days}`));
    const { certificate, key } = issueServer(authority, name, days);
    const files = { cert: readFileSync(certificate), key: readFileSync(key) };
    let requests = 0;
    const server = await listening(
      createSecureServer(files, (_request, response) => {
        requests += 1;
        response.end(healthy);
      }),
      host,
    );
    closing.push(server.close);
    return { url: `https://${host}:${server.port}`, authority, requests: () => requests };
  }

  it("names an authority that is not trusted, and asks nothing of that server", async () => {
    const [one, other] = [await secure("localhost"), await secure("localhost", 2)];
    const found = await doctor(one.url, "--ca", other.authority);
    expect(found.code).toBe(1);
    expect(found.said("certificate chain")).toMatch(/^failed: an authority .* is missing, or none is trusted/);
    expect(found.remedy("certificate chain")).toContain("--ca");
    expect(found.said("certificate name")).toBe("passed: is for localhost");
    expect(found.said("portolan")).toMatch(/^skipped: needs /);
    expect(one.requests()).toBe(0);
  });

  it("says since when a certificate has expired", async () => {
    const { url, authority, requests } = await secure("localhost", -1);
    const found = await doctor(url, "--ca", authority);
    expect(found.failed).toBe(1);
    expect(found.said("certificate dates")).toMatch(/^failed: the certificate expired on \d{4}-/);
    expect(found.remedy("certificate dates")).toContain("renew it");
    expect(requests()).toBe(0);
  });

  it("says which names a certificate of another has", async () => {
    const { url, authority } = await secure("front.example.com");
    const found = await doctor(url, "--ca", authority);
    expect(found.failed).toBe(1);
    expect(found.said("certificate name")).toBe(
      "failed: the certificate is not for localhost; its alternative names: DNS:front.example.com",
    );
  });

  it("warns of a certificate for an address, which no Envoy looks for", async () => {
    const { url, authority } = await secure("127.0.0.1", 1, "127.0.0.1");
    const found = await doctor(url, "--ca", authority);
    expect(found.said("certificate name")).toMatch(/^warning: is for the address 127\.0\.0\.1/);
    const { url: other, authority: of } = await secure("localhost", 3, "127.0.0.1");
    expect((await doctor(other, "--ca", of)).said("certificate name")).toMatch(/^failed: .* not for 127\.0\.0\.1/);
  });

  it("says of a port of plain HTTP that it speaks no TLS", async () => {
    const url = await serving((_request, response) => response.end(healthy));
    const found = await doctor(url.replace("http:", "https:"));
    expect(found.said("tls")).toMatch(/^failed: no TLS handshake/);
  });
});

describe("portolan doctor, of what cannot be reached", () => {
  it("says that a name has no address", async () => {
    const found = await doctor("https://front.invalid", "--timeout", "5");
    expect(found.said("dns")).toMatch(/^failed: front\.invalid /);
    expect(found.said("connection")).toBe("skipped: needs dns to pass");
  });

  it("says that nothing listens", async () => {
    const found = await doctor(`http://127.0.0.1:${await freePort()}`);
    expect(found.said("connection")).toMatch(/: nothing listens there$/);
  });

  it("gives a server up that takes connections and never answers", async () => {
    const server = await listening(createSocketServer(() => {}));
    closing.push(server.close);
    const found = await doctor(`http://localhost:${server.port}`, "--timeout", "1");
    expect(found.said("host")).toBe("failed: no answer within 1 s");
    const secure = await doctor(`https://localhost:${server.port}`, "--timeout", "1");
    expect(secure.said("tls")).toBe("failed: no TLS handshake within 1 s");
  });

  it("gives an answer up that begins and never ends", async () => {
    const url = await serving((_request, response) => void response.write("{"));
    const found = await doctor(url, "--timeout", "1");
    expect(found.said("host")).toBe("failed: its answer did not end within 1 s");
  });
});

describe("portolan doctor, of a server that is no front", () => {
  it("says what a server answers that is something else", async () => {
    const url = await serving((_request, response) => response.end("<html>\u001b[31mwelcome</html>"));
    const found = await doctor(url, "--node", gateway);
    expect(found.said("portolan")).toMatch(/^failed: this is no front of Portolan: \/healthz answers 200: <html>/);
    expect(found.said("portolan")).not.toContain("\u001b");
    expect(found.said("authentication")).toBe("skipped: needs portolan to pass");
  });

  it("says where a redirection leads, and does not follow it", async () => {
    const url = await serving((_request, response) => {
      response.writeHead(308, { location: "https://front.example.com/healthz" });
      response.end();
    });
    const found = await doctor(url);
    expect(found.said("portolan")).toBe("failed: it redirects to https://front.example.com/healthz");
  });

  it.each([
    [
      "another protocol",
      "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
      /^failed: it answers 101, and leaves HTTP/,
    ],
    ["garbage", "%%% no HTTP at all\r\n\r\n", /^failed: its response is not HTTP/],
    ["headers without end", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}`, /^failed: its response is not HTTP/],
    ["an answer that is cut off", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{", /its response was truncated$/],
  ])("bears %s", async (_name, text, said) => {
    const server = await listening(createSocketServer((socket) => socket.once("data", () => socket.end(text))));
    closing.push(server.close);
    expect((await doctor(`http://localhost:${server.port}`)).said("host")).toMatch(said);
  });

  it("stops reading an answer that is too large", async () => {
    const url = await serving((_request, response) => {
      const piece = "x".repeat(64 * 1024);
      const write = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.on("drain", write);
      write();
    });
    expect((await doctor(url)).said("host")).toBe("failed: its answer has more than 1 MiB");
  });

  it("says that polls bring no DiscoveryResponse where /healthz is a front's", async () => {
    const url = await serving((request, response) => response.end(request.url === "/healthz" ? healthy : "[]"));
    const found = await doctor(url, "--node", gateway, "--timeout", "7");
    expect(found.said("poll clusters")).toBe("failed: the response is not a DiscoveryResponse of this type");
    expect(found.said("connect")).toBe("failed: the response is not a DiscoveryResponse");
    expect(found.said("grpc-web")).toBe("failed: the response is not gRPC-Web: it has no grpc-status");
  });
});

describe("portolan doctor, of what polls bring", () => {
  const typed = (type: string, resources: string) =>
    `{"version_info":"1","type_url":"type.googleapis.com/envoy.config.${type}","resources":[${resources}]}`;
  /** Answers of a front to the first poll of each type; 304 to the next. */
  async function polled(answers: Readonly<Record<string, string>>) {
    const asked: Record<string, unknown>[] = [];
    const url = await serving(async (request, response) => {
      if (request.url === "/healthz") return void response.end(healthy);
      let text = "";
      for await (const chunk of request) text += String(chunk);
      if (request.method !== "POST" || answers[request.url ?? ""] === undefined) return void response.end();
      const body: Record<string, unknown> = JSON.parse(text);
      asked.push(body);
      if (body.version_info === undefined) return void response.end(answers[request.url ?? ""] ?? "");
      response.writeHead(304);
      response.end();
    });
    return { found: await doctor(url, "--node", gateway, "--timeout", "5"), asked };
  }

  it("asks for endpoints by the name of a cluster, and for a route table by that of a listener, however deep it stands", async () => {
    const deep = `${'{"a":'.repeat(100_000)}{"route_config_name":"table"}${"}".repeat(100_000)}`;
    const { found, asked } = await polled({
      "/v3/discovery:clusters": typed("cluster.v3.Cluster", '{"name":"a","type":"EDS"}'),
      "/v3/discovery:endpoints": typed("endpoint.v3.ClusterLoadAssignment", "{}"),
      "/v3/discovery:listeners": typed("listener.v3.Listener", deep),
      "/v3/discovery:routes": typed("route.v3.RouteConfiguration", "{}"),
    });
    expect(found.said("poll endpoints")).toMatch(/^passed: 1 resource, .*, for a$/);
    expect(found.said("poll routes")).toMatch(/^passed: 1 resource, .*, for table$/);
    expect(found.said("poll unchanged")).toBe("passed: clusters, endpoints, listeners, routes: 304");
    expect(asked.map(({ resource_names: names }) => names)).toEqual(expect.arrayContaining([["a"], ["table"]]));
  });

  it("warns of a node that is served nothing", async () => {
    const { found } = await polled({
      "/v3/discovery:clusters": typed("cluster.v3.Cluster", ""),
      "/v3/discovery:listeners": typed("listener.v3.Listener", ""),
    });
    expect(found.said("poll clusters")).toMatch(/^warning: 0 resources, .*: this node is served nothing$/);
    expect(found.said("poll routes")).toBe("skipped: no listener of this node names a route table");
  });
});

describe("portolan doctor, of a front that cannot serve", () => {
  it("says that the store cannot be read, with the front's reason", async () => {
    const store = { ...memoryStore(), get: () => Promise.reject(new PortolanError("HEAD: 403 AccessDenied")) };
    const found = await doctor(await frontOf({ store, headTtlMs: 0 }));
    expect(found.said("portolan")).toMatch(/^failed: \/healthz answers 503: the store cannot be read$/);
    expect(found.remedy("portolan")).toContain("push first");
  });

  it("says that nothing was published, and how to publish", async () => {
    const found = await doctor(await frontOf({ store: memoryStore() }), "--node", gateway);
    expect(found.said("portolan")).toBe("passed: a front of Portolan answers");
    expect(found.said("head")).toBe("failed: the store has no HEAD: nothing was published yet");
    expect(found.remedy("head")).toContain("portolan push");
    expect(found.said("authentication")).toBe("skipped: needs head to pass");
  });

  it("says that nobody has decided who may read", async () => {
    const url = await frontOf({ store: await publishedShop(), authentication: undecidedAuthentication });
    const found = await doctor(url);
    expect(found.said("authentication")).toMatch(/^failed: answers 503: authentication is not configured/);
    expect(found.remedy("authentication")).toContain("AUTHENTICATION");
  });

  it.each([
    [-3_600_000, /^failed: its clock is 3[56]\d\d s behind this machine's$/],
    [3_600_000, /^failed: its clock is 3[56]\d\d s ahead of this machine's$/],
    [120_000, /^warning: its clock is 1[12]\d s ahead of/],
    [0, /^passed: within 30 s/],
  ])("compares clocks: %d ms off", async (offMs, said) => {
    const url = await serving((_request, response) => {
      response.setHeader("date", new Date(Date.now() + offMs).toUTCString());
      response.end(healthy);
    });
    expect((await doctor(url)).said("clock")).toMatch(said);
  });

  it("warns of a HEAD that is not confirmed, and fails for one that is old", async () => {
    const of = (headAgeMs: number) => {
      const warnings = [`HEAD was not confirmed for ${headAgeMs / 1_000} s`];
      return serving((_request, response) =>
        response.end(JSON.stringify({ generation: 7, publication: "0", headAgeMs, warnings })),
      );
    };
    expect((await doctor(await of(5_000))).said("head")).toBe(
      "warning: serves generation 7; HEAD was not confirmed for 5 s",
    );
    expect((await doctor(await of(90_000))).said("head")).toBe(
      "failed: serves generation 7, and has not confirmed HEAD for 90 s",
    );
  });

  it("fails where something before the front lets pages of other sites read", async () => {
    const url = await serving((_request, response) => {
      response.setHeader("access-control-allow-origin", "*");
      response.end(healthy);
    });
    expect((await doctor(url)).said("cors")).toBe(
      "failed: /healthz allows pages of any site (Access-Control-Allow-Origin: *)",
    );
  });

  it("fails where something before the front turns 304 into an answer, or cuts held polls off", async () => {
    const body = (type: string) =>
      JSON.stringify({ version_info: "1", type_url: `type.googleapis.com/envoy.config.${type}`, resources: [{}] });
    const answers: Readonly<Record<string, string>> = {
      "/healthz": healthy,
      "/v3/discovery:clusters": body("cluster.v3.Cluster"),
      "/v3/discovery:endpoints": body("endpoint.v3.ClusterLoadAssignment"),
      "/v3/discovery:listeners": body("listener.v3.Listener"),
    };
    const url = await serving((request, response) => {
      if (request.headers["x-envoy-expected-rq-timeout-ms"] !== undefined) return request.destroy();
      response.end(answers[request.url ?? ""] ?? "");
    });
    const found = await doctor(url, "--node", gateway, "--timeout", "7");
    expect(found.said("poll unchanged")).toBe(
      "failed: clusters of the version that the node has get 200 in place of 304",
    );
    expect(found.said("hold")).toMatch(/^failed: a held poll ended after \d+\.\d s: it closed the connection/);
    expect(found.said("poll routes")).toBe("skipped: no listener of this node names a route table");
  });
});
