import { describe, expect, it } from "vitest";
import type { Operation, Rule, Source } from "../../../lib/config/kinds/authorization-policy.ts";
import { type RuleContext, rbacPolicy } from "../../../lib/xds/security/rbac-policy.ts";

const allowHttp: RuleContext = { namespace: "shop", trustDomains: ["cluster.local"], protocol: "http", allows: true };
const denyHttp: RuleContext = { ...allowHttp, allows: false };
const allowTcp: RuleContext = { ...allowHttp, protocol: "tcp" };
const denyTcp: RuleContext = { ...denyHttp, protocol: "tcp" };

const any = { any: true };
const permissionsOf = (rule: Rule, context = allowHttp) => rbacPolicy(rule, context)?.permissions;
const principalsOf = (rule: Rule, context = allowHttp) => rbacPolicy(rule, context)?.principals;
const identity = (principalName: object) => ({ authenticated: { principalName } });
const claim = (name: string, match: object) => ({
  metadata: {
    filter: "envoy.filters.http.jwt_authn",
    path: [{ key: "payload" }, { key: name }],
    value: { stringMatch: match },
  },
});

describe("what is asked", () => {
  const path = (match: object) => ({ urlPath: { path: match } });
  const method = (match: object) => ({ header: { name: ":method", ...match } });
  const host = (match: object) => ({ header: { name: ":authority", stringMatch: { ...match, ignoreCase: true } } });

  it.each<[Operation, object]>([
    [{ paths: ["/a"] }, path({ exact: "/a" })],
    [{ paths: ["/a*"] }, path({ prefix: "/a" })],
    [{ paths: ["*/a"] }, path({ suffix: "/a" })],
    [{ paths: ["*"] }, path({ safeRegex: { regex: ".+" } })],
    [{ methods: ["GET"] }, method({ stringMatch: { exact: "GET" } })],
    [{ methods: ["*"] }, method({ presentMatch: true })],
    [{ hosts: ["A.example"] }, host({ exact: "A.example" })],
    [{ hosts: ["*.example"] }, host({ suffix: ".example" })],
    [{ hosts: ["a.*"] }, host({ prefix: "a." })],
    [{ ports: ["8080"] }, { destinationPort: 8080 }],
  ])("writes %j", (operation, want) => {
    expect(permissionsOf({ to: [{ operation }] })).toEqual([{ andRules: { rules: [{ orRules: { rules: [want] } }] } }]);
  });

  it("writes a path template with its wildcards bare", () => {
    const [permission] = permissionsOf({ to: [{ operation: { paths: ["/v1/{*}/x/{**}"] } }] }) ?? [];
    expect(JSON.stringify(permission)).toContain('"pathTemplate":"/v1/*/x/**"');
  });

  it("joins hosts, methods, paths and ports, each plain before negated, and conditions last", () => {
    const operation = { ports: ["80"], notPaths: ["/n"], paths: ["/p"], methods: ["GET"], hosts: ["h"] };
    const [permission] =
      permissionsOf({
        to: [{ operation }],
        when: [{ key: "connection.sni", values: ["s"] }],
      }) ?? [];
    const kinds = JSON.stringify(permission).match(
      /:authority|:method|notRule|urlPath|destinationPort|requestedServerName/g,
    );
    expect(kinds).toEqual([
      ":authority",
      ":method",
      "urlPath",
      "notRule",
      "urlPath",
      "destinationPort",
      "requestedServerName",
    ]);
  });
});

describe("who asks", () => {
  it.each<[Source, object]>([
    [{ principals: ["cluster.local/ns/a/sa/b"] }, identity({ exact: "spiffe://cluster.local/ns/a/sa/b" })],
    [{ principals: ["cluster.local/*"] }, identity({ prefix: "spiffe://cluster.local/" })],
    [{ principals: ["*/sa/b.c"] }, identity({ safeRegex: { regex: "spiffe://.*/sa/b\\.c" } })],
    [{ principals: ["*"] }, identity({ safeRegex: { regex: ".+" } })],
    [{ namespaces: ["a"] }, identity({ safeRegex: { regex: ".*/ns/a/.*" } })],
    [{ namespaces: ["a-*"] }, identity({ safeRegex: { regex: ".*/ns/a-.*/.*" } })],
    [{ serviceAccounts: ["web"] }, identity({ safeRegex: { regex: "spiffe://.+/ns/shop/(.+/|)sa/web(/.+)?" } })],
    [{ serviceAccounts: ["a/web"] }, identity({ safeRegex: { regex: "spiffe://.+/ns/a/(.+/|)sa/web(/.+)?" } })],
    [{ trustDomains: ["td"] }, identity({ prefix: "spiffe://td/" })],
    [{ trustDomains: ["*"] }, identity({ prefix: "spiffe://" })],
    [{ trustDomains: ["*.example"] }, identity({ safeRegex: { regex: "spiffe://[^/]*\\.example/.*" } })],
    [{ ipBlocks: ["10.1.2.3"] }, { directRemoteIp: { addressPrefix: "10.1.2.3", prefixLen: 32 } }],
    [{ ipBlocks: ["fd00::/8"] }, { directRemoteIp: { addressPrefix: "fd00::", prefixLen: 8 } }],
    [{ remoteIpBlocks: ["10.0.0.0/8"] }, { remoteIp: { addressPrefix: "10.0.0.0", prefixLen: 8 } }],
  ])("writes %j", (source, want) => {
    expect(principalsOf({ from: [{ source }] })).toEqual([{ andIds: { ids: [{ orIds: { ids: [want] } }] } }]);
  });

  const anyText = { safeRegex: { regex: ".+" } };
  it.each([
    ["*", anyText, anyText],
    ["https://i.example/s", { exact: "https://i.example" }, { exact: "s" }],
    ["https://i.example/*", { exact: "https://i.example" }, anyText],
    ["https://i.example/s*", { exact: "https://i.example" }, { prefix: "s" }],
    ["*/s", anyText, { exact: "s" }],
    ["*.example/s", { suffix: ".example" }, { exact: "s" }],
    ["*s", anyText, { suffix: "s" }],
    ["iss*", { prefix: "iss" }, anyText],
  ])("reads request principal %s as issuer and subject", (value, iss, sub) => {
    expect(principalsOf({ from: [{ source: { requestPrincipals: [value] } }] })).toEqual([
      { andIds: { ids: [{ andIds: { ids: [claim("iss", iss), claim("sub", sub)] } }] } },
    ]);
  });

  it("takes a claim for a text or a list of texts", () => {
    const text = { stringMatch: { exact: "admin" } };
    expect(principalsOf({ when: [{ key: "request.auth.claims[org][role]", values: ["admin"] }] })).toEqual([
      {
        andIds: {
          ids: [
            {
              metadata: {
                filter: "envoy.filters.http.jwt_authn",
                path: [{ key: "payload" }, { key: "org" }, { key: "role" }],
                value: { orMatch: { valueMatchers: [{ listMatch: { oneOf: text } }, text] } },
              },
            },
          ],
        },
      },
    ]);
  });

  it("repeats identities of the mesh for all its trust domains, and leaves foreign ones alone", () => {
    const context = { ...allowHttp, trustDomains: ["td1", "td2"] };
    const names = (principals: readonly string[]) =>
      JSON.stringify(principalsOf({ from: [{ source: { principals } }] }, context)).match(/spiffe:[^"]*/g);
    expect(names(["td1/ns/a/sa/b"])).toEqual(["spiffe://td1/ns/a/sa/b", "spiffe://td2/ns/a/sa/b"]);
    expect(names(["cluster.local/ns/a/sa/b"])).toEqual(["spiffe://td1/ns/a/sa/b", "spiffe://td2/ns/a/sa/b"]);
    expect(names(["td9/ns/a/sa/b"])).toEqual(["spiffe://td9/ns/a/sa/b"]);
  });

  it("repeats identities of a condition once for each source, within reason", () => {
    const context = { ...allowHttp, trustDomains: ["td1", "td2"] };
    const countOf = (sources: number): number => {
      const from = Array.from({ length: sources }, () => ({ source: { namespaces: ["x"] } }));
      const when = [{ key: "source.principal", values: ["cluster.local/ns/a/sa/b"] }];
      const [first] = principalsOf({ from, when }, context) ?? [];
      return JSON.stringify(first).match(/spiffe:..td\d/g)?.length ?? 0;
    };
    expect([0, 1, 2, 3].map(countOf)).toEqual([2, 2, 4, 8]);
    expect(countOf(40)).toBeLessThan(2000);
  });
});

describe("a rule", () => {
  it("that is empty matches everything", () => {
    expect(rbacPolicy({}, allowHttp)).toEqual({
      permissions: [{ andRules: { rules: [any] } }],
      principals: [{ andIds: { ids: [any] } }],
    });
  });

  it("with a condition that nobody knows is left out, whatever its action", () => {
    const rule: Rule = { when: [{ key: "no.such.key", values: ["x"] }] };
    expect(rbacPolicy(rule, allowHttp)).toBeUndefined();
    expect(rbacPolicy(rule, denyHttp)).toBeUndefined();
  });

  const mixed: Rule = {
    from: [{ source: { namespaces: ["a"] } }],
    to: [{ operation: { paths: ["/x"], ports: ["1"] } }],
  };

  it("that allows falls away on TCP when a part of it needs HTTP", () => {
    expect(rbacPolicy(mixed, allowTcp)).toBeUndefined();
    expect(rbacPolicy({ from: mixed.from ?? [] }, allowTcp)).toBeDefined();
  });

  it("that denies loses such a part on TCP, and so denies more", () => {
    expect(permissionsOf(mixed, denyTcp)).toEqual([
      { andRules: { rules: [{ orRules: { rules: [{ destinationPort: 1 }] } }] } },
    ]);
    expect(permissionsOf({ to: [{ operation: { paths: ["/x"] } }] }, denyTcp)).toEqual([
      { andRules: { rules: [any] } },
    ]);
  });
});
