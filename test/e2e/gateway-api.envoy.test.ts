import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer as createHttpServer, request } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../free-port.ts";
import { rejections } from "./bookshop.ts";
import { eventually, type RunningEnvoy } from "./envoy.ts";
import { type GuardedShop, openGuardedShop } from "./guarded-shop.ts";
import { failures, startTraffic } from "./traffic.ts";
import { startUpstream } from "./upstream.ts";

const host = "api.example.com";
/** Of a pod of the bookshop without a proxy: that of the gateway's own pod would be taken for one with mutual TLS. */
const upstreamAddress = "127.0.0.13";
const closing: (() => unknown)[] = [];
let shop: GuardedShop;
let envoy: RunningEnvoy;
let ports: Readonly<Record<"web" | "https" | "pass" | "v1" | "v2" | "echo" | "shadow" | "grpc" | "inner", number>>;
const shadowed: string[] = [];

const file = (name: string): string => join(shop.folder, name);

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, upstreamAddress, resolve));
  closing.push(() => server.close());
  const address = server.address() as AddressInfo; // a TCP server's address is never a text
  return address.port;
}

/** A certificate that vouches for itself. */
function issue(name: string, dnsName: string): { readonly cert: Buffer; readonly key: Buffer } {
  const files = ["-keyout", file(`${name}.key`), "-out", file(`${name}.crt`)];
  const about = ["-days", "2", "-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${dnsName}`];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  execFileSync("openssl", ["req", "-x509", ...kind, ...files, ...about], { stdio: "ignore" });
  return { cert: readFileSync(file(`${name}.crt`)), key: readFileSync(file(`${name}.key`)) };
}

const service = (name: string, port: number, portName = "http"): object[] => [
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "bookshop" },
    spec: { clusterIP: "None", ports: [{ name: portName, port: 80, targetPort: port }] },
  },
  {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: `${name}-1`, namespace: "bookshop", labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    endpoints: [{ addresses: [upstreamAddress], conditions: { ready: true } }],
    ports: [{ name: portName, port, protocol: "TCP" }],
  },
];

const gatewayObject = (kind: string, name: string, spec: object): object => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind,
  metadata: { name, namespace: "bookshop" },
  spec,
});

/** The service in front of the gateway, the gateway, and everything that is behind it. */
const fixed = (): readonly object[] => [
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "edge", namespace: "bookshop" },
    spec: {
      clusterIP: "10.96.0.99",
      selector: { istio: "ingressgateway" },
      ports: [
        { name: "web", port: 8080, targetPort: ports.web },
        { name: "https", port: 443, targetPort: ports.https },
        { name: "pass", port: 8443, targetPort: ports.pass },
      ],
    },
  },
  ...service("one", ports.v1),
  ...service("two", ports.v2),
  ...service("echo", ports.echo),
  ...service("shadow", ports.shadow),
  ...service("books", ports.grpc, "grpc"),
  ...service("inner", ports.inner, "tls"),
  gatewayObject("Gateway", "edge", {
    gatewayClassName: "portolan",
    addresses: [{ type: "Hostname", value: "edge" }],
    listeners: [
      { name: "web", port: 8080, protocol: "HTTP" },
      {
        name: "https",
        port: 443,
        protocol: "HTTPS",
        hostname: "secure.example.com",
        tls: { certificateRefs: [{ name: "edge-cert" }] },
      },
      { name: "pass", port: 8443, protocol: "TLS", tls: { mode: "Passthrough" } },
    ],
  }),
  gatewayObject("HTTPRoute", "secure", {
    parentRefs: [{ name: "edge", sectionName: "https" }],
    rules: [{ backendRefs: [{ name: "one", port: 80 }] }],
  }),
  gatewayObject("TLSRoute", "inner", {
    parentRefs: [{ name: "edge", sectionName: "pass" }],
    hostnames: ["inner.example.com"],
    rules: [{ backendRefs: [{ name: "inner", port: 80 }] }],
  }),
  gatewayObject("GRPCRoute", "books", {
    parentRefs: [{ name: "edge", sectionName: "web" }],
    hostnames: ["grpc.example.com"],
    rules: [{ matches: [{ method: { service: "shop.Books" } }], backendRefs: [{ name: "books", port: 80 }] }],
  }),
];

/** The route that is edited: a share of the requests for each version, and one rule for each thing that a rule can do. */
const shares = (one: number, two: number): object =>
  gatewayObject("HTTPRoute", "api", {
    parentRefs: [{ name: "edge", sectionName: "web" }],
    hostnames: [host],
    rules: [
      {
        matches: [{ path: { value: "/split" } }],
        backendRefs: [
          { name: "one", port: 80, weight: one },
          { name: "two", port: 80, weight: two },
        ],
      },
      {
        matches: [{ path: { value: "/moved" } }],
        filters: [
          {
            type: "RequestRedirect",
            requestRedirect: {
              hostname: "new.example.com",
              statusCode: 308,
              path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/here" },
            },
          },
        ],
      },
      {
        matches: [{ path: { value: "/outer" } }],
        filters: [
          {
            type: "URLRewrite",
            urlRewrite: {
              hostname: "inside.example.com",
              path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/" },
            },
          },
          { type: "RequestMirror", requestMirror: { backendRef: { name: "shadow", port: 80 } } },
        ],
        backendRefs: [{ name: "echo", port: 80 }],
      },
      {
        matches: [{ path: { value: "/half" } }],
        backendRefs: [
          { name: "one", port: 80 },
          { name: "nobody", port: 80 },
        ],
      },
    ],
  });

async function publish(route: object): Promise<void> {
  const text = [...fixed(), route].map((one) => JSON.stringify(one)).join("\n---\n");
  await writeFile(join(shop.shop.folder, "gateway-api.yaml"), text);
  await shop.push();
}

function ask(
  path: string,
  name = host,
): Promise<{ readonly status: number; readonly location: string; readonly text: string }> {
  return new Promise((resolve) => {
    request({ port: ports.web, path, headers: { host: name } }, (response) => {
      let text = "";
      response.on("data", (data) => {
        text += data;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, location: response.headers.location ?? "", text }),
      );
    })
      .once("error", ({ message }) => resolve({ status: 0, location: "", text: message }))
      .end();
  });
}

/** Who answers over TLS, by its certificate. */
function certificateAt(port: number, servername: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connectTls({ host: "127.0.0.1", port, servername, rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.setTimeout(2_000, () => socket.destroy(new Error("timeout")));
    socket.once("error", (error) => resolve(error.message));
  });
}

beforeAll(async () => {
  shop = await openGuardedShop(async () => {});
  const [one, two] = [await startUpstream("one", 0, upstreamAddress), await startUpstream("two", 0, upstreamAddress)];
  closing.push(one.close, two.close);
  const echo = createHttpServer((asked, response) => response.end(`${asked.headers.host} ${asked.url}`));
  const shadow = createHttpServer((asked, response) => {
    shadowed.push(asked.url ?? "");
    response.end();
  });
  const books = createHttp2Server();
  books.on("stream", (stream, headers) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", "x-call": String(headers[":path"]) }));
    stream.end();
  });
  const inner = createTlsServer(issue("inner", "inner.example.com"), (socket) => socket.end());
  ports = {
    web: await freePort(),
    https: await freePort(),
    pass: await freePort(),
    v1: one.port,
    v2: two.port,
    echo: await listen(echo),
    shadow: await listen(shadow),
    grpc: await listen(books),
    inner: await listen(inner),
  };
  issue("outer", "secure.example.com");
  const base64 = (name: string) => readFileSync(file(name)).toString("base64");
  await writeFile(
    file("secret.yaml"),
    JSON.stringify({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "edge-cert", namespace: "bookshop" },
      data: { "tls.crt": base64("outer.crt"), "tls.key": base64("outer.key") },
    }),
  );
  await shop.portolan("secret", "apply", "-f", file("secret.yaml"), "--store", file("store"));
  await publish(shares(90, 10));
  await shop.newToken();
  envoy = await shop.startGateway();
  const isServed = ({ status }: Awaited<ReturnType<typeof ask>>) => status === 200;
  await eventually(() => ask("/split"), isServed, 30_000);
});

afterAll(async () => {
  await envoy.stop();
  for (const close of closing) await close();
  await shop.close();
});

describe("a gateway of the Gateway API", () => {
  it("shares requests by weight, and follows an edit without a failed request", async () => {
    const traffic = startTraffic(ports.web, host, "/split");
    const only = (name: string) => async (): Promise<boolean> => {
      traffic.reset();
      await new Promise((resolve) => setTimeout(resolve, 300));
      return traffic.counts().size === 1 && traffic.counts().has(name);
    };
    for (const { one, two, name } of [
      { one: 0, two: 100, name: "two" },
      { one: 100, two: 0, name: "one" },
    ]) {
      await publish(shares(one, two));
      expect(await eventually(only(name), (done) => done, 20_000)).toBe(true);
      expect(failures(traffic, ["one", "two"])).toEqual(new Map());
    }
    await traffic.stop();
    expect(await rejections(envoy)).toEqual([]);
  }, 60_000);

  it("redirects with another prefix, and to no port that nobody asked for", async () => {
    expect(await ask("/moved/there")).toMatchObject({
      status: 308,
      location: expect.stringMatching(/^http:\/\/new\.example\.com(?::\d+)?\/here\/there$/),
    });
  });

  it("takes a prefix away, sends another host, and a copy to somebody else", async () => {
    expect(await ask("/outer/page")).toMatchObject({ status: 200, text: "inside.example.com /page" });
    expect(
      await eventually(
        async () => shadowed,
        (paths) => paths.length > 0,
        5_000,
      ),
    ).toContain("/page");
  });

  it("answers 500 for the share of a backend that is not there", async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => ask("/half")));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 500]));
  });

  it("passes TLS on by name, and ends it where a listener has a certificate", async () => {
    expect(await certificateAt(ports.pass, "inner.example.com")).toBe("inner");
    const isOurs = (name: string) => name === "outer";
    expect(await eventually(() => certificateAt(ports.https, "secure.example.com"), isOurs, 20_000)).toBe("outer");
  });

  it("routes a call of gRPC by its service", async () => {
    const session = connectHttp2(`http://127.0.0.1:${ports.web}`);
    const call = (path: string) =>
      new Promise<string>((resolve) => {
        const stream = session.request({
          ":method": "POST",
          ":path": path,
          ":authority": "grpc.example.com",
          "content-type": "application/grpc",
          te: "trailers",
        });
        let status = "";
        stream.once("response", (headers) => {
          status = String(headers["grpc-status"] ?? "");
        });
        stream.once("trailers", (trailers) => {
          status = `${trailers["grpc-status"]} ${trailers["x-call"]}`;
        });
        stream.once("close", () => resolve(status));
        stream.resume();
        stream.end();
      });
    expect(await call("/shop.Books/Get")).toBe("0 /shop.Books/Get");
    // Unimplemented: nobody has the route.
    expect(await call("/shop.Other/Get")).toBe("12");
    session.close();
  });

  it("tells the status of its objects, as kubectl would show it", async () => {
    const shown = await shop.portolan(
      "get",
      "httproute",
      "api",
      "-n",
      "bookshop",
      "-o",
      "json",
      "--store",
      file("store"),
    );
    expect(JSON.parse(shown)).toMatchObject({
      status: {
        parents: [
          {
            conditions: [
              { type: "Accepted", status: "True" },
              { type: "ResolvedRefs", status: "False", reason: "BackendNotFound" },
            ],
          },
        ],
      },
    });
  });
});
