import { describe, expect, it } from "vitest";
import type { HTTPMatchRequest } from "../../../lib/config/kinds/virtual-service.ts";
import { isCatchAll, routeMatch } from "../../../lib/xds/routes/route-match.ts";

describe("routeMatch", () => {
  const cases: readonly {
    readonly says: string;
    readonly match: HTTPMatchRequest | undefined;
    readonly want: object;
  }[] = [
    { says: "matches every path, and says nothing of case, without a match", match: undefined, want: { prefix: "/" } },
    { says: "writes case even for an empty match", match: {}, want: { prefix: "/", caseSensitive: true } },
    {
      says: "keeps an exact path and drops case on demand",
      match: { uri: { exact: "/a" }, ignoreUriCase: true },
      want: { path: "/a", caseSensitive: false },
    },
    {
      says: "writes a regular expression as it is",
      match: { uri: { regex: "/v[0-9]+" } },
      want: { safeRegex: { regex: "/v[0-9]+" }, caseSensitive: true },
    },
    {
      says: "sorts headers by name and puts pseudo headers behind them",
      match: {
        method: { exact: "GET" },
        scheme: { exact: "http" },
        authority: { prefix: "a." },
        headers: { "x-b": { exact: "1" }, "x-a": { regex: "1|2" } },
      },
      want: {
        prefix: "/",
        caseSensitive: true,
        headers: [
          { name: "x-a", stringMatch: { safeRegex: { regex: "1|2" } } },
          { name: "x-b", stringMatch: { exact: "1" } },
          { name: ":method", stringMatch: { exact: "GET" } },
          { name: ":authority", stringMatch: { prefix: "a." } },
          { name: ":scheme", stringMatch: { exact: "http" } },
        ],
      },
    },
    {
      says: "asks for presence with an empty match and with the expression *",
      match: { headers: { "x-a": {}, "x-b": { regex: "*" } }, queryParams: { q: {} } },
      want: {
        prefix: "/",
        caseSensitive: true,
        headers: [
          { name: "x-a", presentMatch: true },
          { name: "x-b", presentMatch: true },
        ],
        queryParameters: [{ name: "q", presentMatch: true }],
      },
    },
    {
      says: "counts a missing header as empty when its value must differ, but not when it must be absent",
      match: { withoutHeaders: { "x-a": { exact: "1" }, "x-b": {} } },
      want: {
        prefix: "/",
        caseSensitive: true,
        headers: [
          { name: "x-a", stringMatch: { exact: "1" }, invertMatch: true, treatMissingHeaderAsEmpty: true },
          { name: "x-b", presentMatch: true, invertMatch: true },
        ],
      },
    },
    {
      says: "sorts query parameters by name",
      match: { queryParams: { b: { exact: "" }, a: { prefix: "k" } } },
      want: {
        prefix: "/",
        caseSensitive: true,
        queryParameters: [
          { name: "a", stringMatch: { prefix: "k" } },
          { name: "b", stringMatch: { exact: "" } },
        ],
      },
    },
    {
      says: "reads a claim of a token in either spelling from the metadata of the JWT filter",
      match: {
        headers: { "@request.auth.claims.iss": { exact: "me" } },
        withoutHeaders: { "@request.auth.claims[a.b][c]": { prefix: "x" } },
      },
      want: {
        prefix: "/",
        caseSensitive: true,
        dynamicMetadata: [
          {
            filter: "envoy.filters.http.jwt_authn",
            path: [{ key: "payload" }, { key: "iss" }],
            value: {
              orMatch: {
                valueMatchers: [
                  { listMatch: { oneOf: { stringMatch: { exact: "me" } } } },
                  { stringMatch: { exact: "me" } },
                ],
              },
            },
          },
          {
            filter: "envoy.filters.http.jwt_authn",
            path: [{ key: "payload" }, { key: "a.b" }, { key: "c" }],
            value: {
              orMatch: {
                valueMatchers: [
                  { listMatch: { oneOf: { stringMatch: { prefix: "x" } } } },
                  { stringMatch: { prefix: "x" } },
                ],
              },
            },
            invert: true,
          },
        ],
      },
    },
  ];
  it.each(cases)("$says", ({ match, want }) => {
    expect(routeMatch(match, false)).toEqual(want);
  });

  it.each([
    { prefix: "/a/", want: { pathSeparatedPrefix: "/a" } },
    { prefix: "/a", want: { pathSeparatedPrefix: "/a" } },
    { prefix: "/", want: { prefix: "/" } },
  ])("ends the Ingress prefix $prefix at a slash", ({ prefix, want }) => {
    expect(routeMatch({ uri: { prefix } }, true)).toEqual({ ...want, caseSensitive: true });
  });
});

describe("isCatchAll", () => {
  it.each([
    { match: undefined, want: true },
    { match: { gateways: ["mesh"] }, want: true },
    { match: { uri: { regex: ".*" } }, want: true },
    { match: { uri: { regex: "/.*" } }, want: false },
    { match: { uri: { exact: "/" } }, want: false },
    { match: { headers: { a: {} } }, want: false },
    { match: { queryParams: { a: {} } }, want: false },
    { match: { headers: { "@request.auth.claims.a": { exact: "1" } } }, want: false },
  ])("is $want for $match", ({ match, want }) => {
    expect(isCatchAll(routeMatch(match, false))).toBe(want);
  });
});
