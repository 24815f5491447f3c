import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  configPath,
  credentialCaName,
  credentialSecretName,
  fileRootCaName,
  inboundClusterName,
  outboundClusterName,
  parseClusterName,
  sniDnatClusterName,
} from "../../lib/xds/names.ts";

const label = fc.stringMatching(/^[a-z0-9_.-]{1,12}$/);
const subset = fc.stringMatching(/^[a-z0-9-]{0,8}$/);
const portNumber = fc.integer({ min: 1, max: 65535 });

describe("parseClusterName", () => {
  it("reads back what outboundClusterName wrote", () => {
    fc.assert(
      fc.property(portNumber, subset, label, (port, name, host) => {
        expect(parseClusterName(outboundClusterName(port, name, host))).toEqual({
          direction: "outbound",
          port,
          subset: name,
          host,
        });
      }),
    );
  });

  it("reads back what sniDnatClusterName wrote, also for hosts with the separator in them", () => {
    fc.assert(
      fc.property(portNumber, subset, label, (port, name, host) => {
        expect(parseClusterName(sniDnatClusterName(port, name, host))).toMatchObject({ port, subset: name, host });
      }),
    );
    expect(parseClusterName("outbound_.80_.v1_.odd_.host")).toMatchObject({ subset: "v1", host: "odd_.host" });
  });

  it.each([
    { name: inboundClusterName(8080), want: { direction: "inbound", port: 8080, subset: "", host: "" } },
    { name: "outbound|x||a.b", want: { direction: "outbound", port: 0, subset: "", host: "a.b" } },
    { name: "BlackHoleCluster", want: undefined },
    { name: "outbound|80|a.b", want: undefined },
    { name: "inbound-vip|80|http|a.b", want: undefined },
  ])("reads $name", ({ name, want }) => {
    expect(parseClusterName(name)).toEqual(want);
  });
});

describe("secret names", () => {
  it.each([
    { credential: "shop", secret: "kubernetes://shop", ca: "kubernetes://shop-cacert" },
    { credential: "configmap://ns/ca", secret: "configmap://ns/ca", ca: "configmap://ns/ca-cacert" },
  ])("turns credential $credential into a secret and its CA", ({ credential, secret, ca }) => {
    expect(credentialSecretName(credential)).toBe(secret);
    expect(credentialCaName(credential)).toBe(ca);
  });

  it("means the system's own roots when no file is given", () => {
    expect(fileRootCaName("")).toBe("file-root:system");
    expect(fileRootCaName("/ca.pem")).toBe("file-root:/ca.pem");
  });
});

describe("configPath", () => {
  it("writes the version that Istio stores, and the kind in kebab case", () => {
    const meta = { group: "networking.istio.io", kind: "DestinationRule", namespace: "shop", name: "cart" };
    expect(configPath(meta)).toBe("/apis/networking.istio.io/v1/namespaces/shop/destination-rule/cart");
  });
});

describe("names", () => {
  const folder = resolve(import.meta.dirname, "../../lib/xds");
  /** A field that holds a name of ours, or what statistics and traces are filed under, with the text that stands in it. */
  const written = /\b((?:\w+N|n)ame|\w*[sS]tatPrefix|operation): (?:`([^`]*)`|"([^"]*)")/g;
  /** Extensions have names of Envoy's, most of them below `envoy.`, and of its build that is Istio's. */
  const ofEnvoy = /^(?:envoy\..*|istio\.(?:alpn|stats)|preserve_case|raw_buffer|uri-template|)$/;
  /** How an input of a step counts. */
  const kind = /^(?:identity|elements|value)$/;

  function namesWrittenIn(text: string): readonly string[] {
    return [...text.matchAll(written)]
      .filter(([, , template, plain]) => !ofEnvoy.test(template ?? plain ?? "") && !kind.test(plain ?? ""))
      .map(([found]) => found);
  }

  it("are made in names.ts and nowhere else", () => {
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    const elsewhere = files
      .filter((file) => file !== "names.ts")
      .flatMap((file) => namesWrittenIn(readFileSync(join(folder, file), "utf8")).map((found) => `${file}: ${found}`));
    expect(files.length).toBeGreaterThan(100);
    expect(elsewhere).toEqual([]);
  });

  it.each([
    ['{ name: "allow_any", domains }', true],
    ["{ statPrefix: `inbound;` }", true],
    ['{ name: "envoy.filters.http.router" }', false],
    ["{ name: routeName(route) }", false],
    ['step("route table", { pieces: "identity", name: "value" }, make)', false],
  ])("are told from other texts: %s", (text, ours) => {
    expect(namesWrittenIn(text).length > 0).toBe(ours);
  });
});
