import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { runPortolan as run } from "../run-portolan.ts";

const folder = new URL("trace-policies", import.meta.url).pathname;
let lines: readonly string[] = [];

beforeAll(async () => {
  lines = (await readFile(`${folder}/input.yaml`, "utf8")).split("\n");
});

/** Where a text stands behind the name of an object of the folder. */
function placeOf(name: string, text: string): string {
  const start = lines.findIndex((line) => line.includes(`{name: ${name},`));
  return `input.yaml:${lines.findIndex((line, at) => at > start && line.includes(text)) + 1}`;
}

const ask = async (url: string, ...more: readonly string[]) =>
  (await run("trace", "edge-1.istio-system", url, "--dir", folder, ...more)).out;

describe("portolan trace through policies", () => {
  it("ends a connection that a rule for hosts closes at a port of TCP, and says what it depends on", async () => {
    const closed = await ask("tcp://queue:5672", "--from", "198.51.100.1");
    expect(closed).toContain("→ the connection is closed: denied by istio-system/office rule 0");
    expect(closed).toContain(
      `from ${placeOf("office", "- from:")} AuthorizationPolicy/istio-system/office spec.rules[0]`,
    );
    expect(await ask("tcp://queue:5672", "--from", "192.0.2.1")).toContain("→ 10.1.0.9:5672 (100 %)");
    const open = await ask("tcp://queue:5672");
    expect(open).toContain("depends on the client's address. If it passes:");
    expect(open).toContain("→ 10.1.0.9:5672 (100 % of those)");
  });

  it("denies what two external authorizers would be asked about, by way of the gateway's Service", async () => {
    const denied = await ask("http://shop.example/");
    expect(denied).toContain("its port 80 leads to 8080 of the workload");
    expect(denied).toContain("HTTP filter envoy.filters.http.rbac ends it");
    expect(denied).toContain("→ response 403: denied by istio-system/shop-basic rule 0, whose external authorizer");
    expect(denied).not.toContain("100 %");
    expect(denied).toContain(`from ${placeOf("shop-basic", "rules:")}`);
    expect(await ask("http://other.example/")).toContain("→ 10.1.0.9:80 (100 %)");
  });

  it("takes claims, tokens and their absence for what policies ask", async () => {
    const issuer = '{"iss":"https://issuer.example","sub":"jo"}';
    expect(await ask("http://staff.example/")).toContain("→ response 403: denied by istio-system/staff rule 0");
    expect(await ask("http://staff.example/", "--claims", issuer)).toContain("→ 10.1.0.9:80 (100 %)");
    const other = await ask("http://staff.example/", "--claims", '{"iss":"other","sub":"jo"}');
    expect(other).toContain('→ response 401: the token is of the issuer "other"');
    expect(other).toContain(`from ${placeOf("staff", "- issuer:")} RequestAuthentication/istio-system/staff`);
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const token = `${part({ alg: "ES256", kid: "1" })}.${part(JSON.parse(issuer))}.c2ln`;
    expect(await ask("http://staff.example/", "--token", token)).toContain(
      "depends on the signature and the times of the request's token of https://issuer.example",
    );
    const bad = await run("trace", "edge-1.istio-system", "http://a/", "--dir", folder, "--claims", "no");
    expect([bad.code, bad.err]).toEqual([2, expect.stringContaining("is no JSON object")]);
  });

  it("says the same as JSON", async () => {
    const told: { readonly ways: readonly object[] } = JSON.parse(await ask("http://shop.example/", "--json"));
    expect(told.ways).toMatchObject([
      {
        dependsOn: [],
        end: { kind: "response", status: 403 },
        decisions: [
          { step: "route" },
          {
            step: "HTTP filter",
            verdict: "answers",
            causes: [{ object: "AuthorizationPolicy/istio-system/shop-basic", path: ["spec", "rules", 0] }],
          },
        ],
      },
    ]);
  });
});
