import { describe, expect, it } from "vitest";
import { bootstrapOf } from "../../lib/agent/bootstrap.ts";
import { formatProblem } from "../../lib/config/format-commands.ts";
import { isRegex } from "../../lib/config/rules/regex.ts";
import { envoyComplaint } from "./envoy.ts";

/** A bootstrap of ours with a route table of its own. */
function bootstrapWith(route: object): object {
  const bootstrap = bootstrapOf({
    nodeId: "router~10.0.0.1~edge.shop~shop.svc.cluster.local",
    nodeCluster: "edge.shop",
    metadata: {},
    server: { host: "127.0.0.1", port: 1 },
    adminPort: 0,
  });
  const router = { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" };
  const manager = {
    "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    statPrefix: "x",
    httpFilters: [{ name: "envoy.filters.http.router", typedConfig: router }],
    routeConfig: { virtualHosts: [{ name: "all", domains: ["*"], routes: [route] }] },
  };
  const listener = {
    name: "web",
    address: { socketAddress: { address: "127.0.0.1", portValue: 0 } },
    filterChains: [{ filters: [{ name: "envoy.filters.network.http_connection_manager", typedConfig: manager }] }],
  };
  return { ...bootstrap, staticResources: { ...bootstrap.staticResources, listeners: [listener] } };
}
const withExpression = (regex: string) =>
  bootstrapWith({ match: { safeRegex: { regex } }, directResponse: { status: 200 } });

describe("an Envoy with a bootstrap of ours", () => {
  it.each([
    "/[a-z]+/items/[0-9]+",
    "a".repeat(1024),
    "^https?://([a-z0-9-]+\\.)*(example\\.com|example\\.org|example\\.net|shop\\.example\\.com)(:[0-9]{1,5})?(/[^/]+)*/?$",
    "\\pL{1000}",
    "[\\pL\\pN]{0,1000}",
    ".{1000}".repeat(9),
    "(?i)[a-zé-ÿ]{1000}",
  ])("takes an expression that is taken here: %s", async (regex) => {
    expect(isRegex(regex)).toBe(true);
    expect(await envoyComplaint(withExpression(regex))).toBe("");
  });

  it("refuses one that is refused here for its size, and would refuse the whole table with it", async () => {
    const regex = ".{1000}".repeat(20);
    expect(isRegex(regex)).toBe(false);
    expect(await envoyComplaint(withExpression(regex))).toContain("RE2 program size");
  });

  const withHeaders = (values: readonly string[]) =>
    bootstrapWith({
      match: { prefix: "/" },
      directResponse: { status: 200 },
      requestHeadersToAdd: values.map((value, at) => ({ header: { key: `x-${at}`, value } })),
    });

  it("takes the values of headers that are taken here", async () => {
    const values = [
      ...[
        "100%%",
        "%REQ(x):10%",
        "%HOSTNAME()%",
        "%PATH(NQ):20%",
        "%START_TIME(%s.%3f)%",
        "%GRPC_STATUS(CAMEL_STRING)%",
      ],
      ...['%DYNAMIC_METADATA(["a", "b"])%', "%COMMON_DURATION(DS_RX_BEG:US_TX_BEG:ms)%", "%UPSTREAM_METADATA(a:b)%"],
      ...[
        "%FILTER_STATE(a:PLAIN):5%",
        "%CEL(request.path)%",
        "%QUERY_PARAM(q)%",
        "%EMIT_TIME%",
        "%DOWNSTREAM_PEER_CERT_V_START%",
      ],
    ];
    expect(values.map(formatProblem).filter((problem) => problem !== undefined)).toEqual([]);
    expect(await envoyComplaint(withHeaders(values))).toBe("");
  });

  it.each(["100%", "%BAD%", "%REQ%", "%REQ()%", "%PROTOCOL(x)%", "%PROTOCOL:3%", "%UPSTREAM_METADATA(a):3%"])(
    "refuses the value of a header that is refused here: %s",
    async (value) => {
      expect(formatProblem(value)).toBeDefined();
      expect(await envoyComplaint(withHeaders([value]))).not.toBe("");
    },
  );
});
