import { describe, expect, it } from "vitest";
import type { HTTPMatchRequest, HTTPRoute } from "../../../lib/config/kinds/virtual-service.ts";
import { mergeDelegateRoutes } from "../../../lib/mesh/index/delegate.ts";

const root: HTTPRoute = {
  name: "root",
  match: [{ uri: { prefix: "/a" }, headers: { x: { exact: "1" } } }],
  timeout: "5s",
  delegate: { name: "d" },
};
const x1 = { x: { exact: "1" } };
const to = [{ destination: { host: "h" } }];
const routeTo = (...match: readonly HTTPMatchRequest[]): HTTPRoute => ({
  route: to,
  ...(match.length === 0 ? {} : { match }),
});

describe("a delegate's route under a root that matches prefix /a and header x=1", () => {
  it.each([
    {
      why: "narrows the prefix",
      route: routeTo({ uri: { prefix: "/a/b" } }),
      want: [{ uri: { prefix: "/a/b" }, headers: x1 }],
    },
    {
      why: "narrows to an exact path",
      route: routeTo({ uri: { exact: "/a" } }),
      want: [{ uri: { exact: "/a" }, headers: x1 }],
    },
    { why: "is dropped for another prefix", route: routeTo({ uri: { prefix: "/b" } }), want: undefined },
    { why: "is dropped for a regular expression", route: routeTo({ uri: { regex: "/a.*" } }), want: undefined },
    { why: "takes the root's matches without its own", route: routeTo(), want: root.match },
    {
      why: "is dropped whole when one of two matches conflicts",
      route: routeTo({ uri: { prefix: "/a/b" } }, { uri: { prefix: "/z" } }),
      want: undefined,
    },
    {
      why: "is dropped for another value of the header",
      route: routeTo({ headers: { x: { exact: "2" } } }),
      want: undefined,
    },
    {
      why: "adds another header",
      route: routeTo({ headers: { y: { exact: "1" } } }),
      want: [{ uri: { prefix: "/a" }, headers: { x: { exact: "1" }, y: { exact: "1" } } }],
    },
    { why: "is dropped for case-insensitive paths", route: routeTo({ ignoreUriCase: true }), want: undefined },
    { why: "is dropped for an empty matcher", route: routeTo({ uri: {} }), want: undefined },
  ])("$why", ({ route, want }) => {
    expect(mergeDelegateRoutes(root, [route]).map((merged) => merged.match)).toEqual(want === undefined ? [] : [want]);
  });

  it("takes settings of the root that it lacks, never its action", () => {
    const redirecting: HTTPRoute = { ...root, redirect: { uri: "/r" }, retries: { attempts: 2 } };
    const [merged] = mergeDelegateRoutes(redirecting, [{ ...routeTo(), name: "own", retries: { attempts: 9 } }]);
    expect(merged).toEqual({ name: "root-own", match: root.match, timeout: "5s", retries: { attempts: 9 }, route: to });
  });

  it("is dropped when it does not repeat the root's source namespace", () => {
    const from = { ...root, match: [{ sourceNamespace: "n1" }] };
    expect(mergeDelegateRoutes(from, [routeTo({ uri: { prefix: "/a" } })])).toEqual([]);
  });

  it.each([
    { why: "another port", rootMatch: { port: 80 }, own: { port: 81 }, kept: false },
    { why: "one port only", rootMatch: { port: 80 }, own: {}, kept: true },
    {
      why: "another value of a label",
      rootMatch: { sourceLabels: { a: "1" } },
      own: { sourceLabels: { a: "2" } },
      kept: false,
    },
    { why: "another label", rootMatch: { sourceLabels: { a: "1" } }, own: { sourceLabels: { b: "2" } }, kept: true },
    { why: "more gateways", rootMatch: { gateways: ["mesh"] }, own: { gateways: ["mesh", "ns/g"] }, kept: false },
    { why: "fewer gateways", rootMatch: { gateways: ["mesh", "ns/g"] }, own: { gateways: ["mesh"] }, kept: true },
  ])("with $why: kept $kept", ({ rootMatch, own, kept }) => {
    expect(mergeDelegateRoutes({ match: [rootMatch] }, [routeTo(own)]).length).toBe(kept ? 1 : 0);
  });

  it("is multiplied by every compatible match of the root", () => {
    const two = { ...root, match: [{ uri: { prefix: "/a" } }, { uri: { prefix: "/a/b" } }] };
    const [merged] = mergeDelegateRoutes(two, [routeTo({ uri: { exact: "/a/b/c" } })]);
    expect(merged?.match).toEqual([{ uri: { exact: "/a/b/c" } }, { uri: { exact: "/a/b/c" } }]);
  });
});
