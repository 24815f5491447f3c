import { describe, expect, it } from "vitest";
import type { HTTPRedirect } from "../../../../lib/config/kinds/virtual-service.ts";
import { directResponseAction, redirectAction } from "../../../../lib/xds/routes/actions/redirect.ts";

describe("redirectAction", () => {
  const cases: readonly {
    readonly says: string;
    readonly redirect: HTTPRedirect;
    readonly port: number;
    readonly tls?: boolean;
    readonly want: object | undefined;
  }[] = [
    {
      says: "writes an empty path",
      redirect: { authority: "b" },
      port: 80,
      want: { hostRedirect: "b", pathRedirect: "" },
    },
    {
      says: "rewrites a prefix instead of the path",
      redirect: { prefixRewrite: "/b" },
      port: 80,
      want: { prefixRewrite: "/b" },
    },
    {
      says: "names a status that is not 301",
      redirect: { uri: "/b", redirectCode: 308 },
      port: 80,
      want: { pathRedirect: "/b", responseCode: "PERMANENT_REDIRECT" },
    },
    {
      says: "has no action for a status that Envoy lacks",
      redirect: { uri: "/b", redirectCode: 300 },
      port: 80,
      want: undefined,
    },
    { says: "keeps a port", redirect: { port: 8443 }, port: 80, want: { pathRedirect: "", portRedirect: 8443 } },
    {
      says: "takes the port of the table on demand",
      redirect: { derivePort: "FROM_REQUEST_PORT" },
      port: 9080,
      want: { pathRedirect: "", portRedirect: 9080 },
    },
    {
      says: "drops 443 where TLS ends here",
      redirect: { derivePort: "FROM_REQUEST_PORT" },
      port: 443,
      tls: true,
      want: { pathRedirect: "" },
    },
    {
      says: "keeps 443 on plain text",
      redirect: { derivePort: "FROM_REQUEST_PORT" },
      port: 443,
      want: { pathRedirect: "", portRedirect: 443 },
    },
    {
      says: "drops 80 for the scheme http although TLS ends here",
      redirect: { port: 80, scheme: "http" },
      port: 443,
      tls: true,
      want: { pathRedirect: "", schemeRedirect: "http" },
    },
    {
      says: "names no port for the scheme's own",
      redirect: { derivePort: "FROM_PROTOCOL_DEFAULT", scheme: "https" },
      port: 8080,
      want: { pathRedirect: "", schemeRedirect: "https" },
    },
  ];
  it.each(cases)("$says", ({ redirect, port, tls = false, want }) => {
    expect(redirectAction(redirect, { port, terminatesTls: tls })).toEqual(want);
  });
});

describe("directResponseAction", () => {
  it.each([
    { response: { status: 204 }, want: { status: 204 } },
    { response: { status: 503, body: { string: "down" } }, want: { status: 503, body: { inlineString: "down" } } },
    { response: { status: 200, body: { bytes: "AAE=" } }, want: { status: 200, body: { inlineBytes: "AAE=" } } },
  ])("answers $response", ({ response, want }) => {
    expect(directResponseAction(response)).toEqual(want);
  });
});
