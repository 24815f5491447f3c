import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { onlyUriOf } from "../../../lib/front/auth/certificate-identity.ts";
import { readAuthentication } from "../../../lib/front/auth/settings.ts";
import { createAuthority, issueIdentity, issueServer } from "../../e2e/certificates.ts";
import { gatewayEvent, verifiedByCloudflare } from "./presented.ts";

const web = "spiffe://cluster.local/ns/default/sa/web";
let folder: string;
let authority: string;
let issuer: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "portolan-certificates-"));
  authority = createAuthority(join(folder, "ours"));
  issuer = readFileSync(authority, "utf8");
});
afterAll(() => rmSync(folder, { recursive: true }));

const certificateOf = (spiffeId: string, by = authority, options: Parameters<typeof issueIdentity>[2] = {}) =>
  readFileSync(join(issueIdentity(by, spiffeId, options), "cert.pem"), "utf8");

const none = () => undefined;
const read = (platform: string, more: object = {}, now = Date.now) => {
  const certificates = { platform, issuers: [issuer], trustDomains: ["cluster.local"], ...more };
  return readAuthentication(JSON.stringify({ certificates }), { now });
};

/** Requests with a certificate in the fields of each platform. */
const ways = [
  {
    platform: "cloudflare",
    identify: (pem: string, now?: () => number) =>
      read("cloudflare", {}, now).identify({ header: none, cf: verifiedByCloudflare(pem) }),
  },
  {
    platform: "api-gateway",
    identify: (pem: string, now?: () => number) =>
      read("api-gateway", {}, now).identify({ header: none, platform: gatewayEvent(pem) }),
  },
] as const;

const refusedFor = (reason: string) => ({ kind: "refused", status: 401, reason: expect.stringContaining(reason) });

describe.each(ways)("a client certificate that $platform has verified", ({ identify }) => {
  it("proves the namespace and the service account of its SPIFFE id", async () => {
    expect(await identify(certificateOf(web))).toMatchObject({
      kind: "identified",
      caller: { kind: "node", subject: web, namespace: "default", serviceAccount: "web" },
    });
  });

  it("is refused after its end, also on a connection that was opened before", async () => {
    const pem = certificateOf(web);
    const endMs = Date.parse(new X509Certificate(pem).validTo);
    expect(await identify(pem, () => endMs - 1)).toMatchObject({ kind: "identified" });
    expect(await identify(pem, () => endMs)).toMatchObject(refusedFor("only"));
    expect(await identify(pem, () => endMs - 10 * 86_400_000)).toMatchObject(refusedFor("only"));
  });

  it("is refused after the end of its authority's own certificate, although it holds longer", async () => {
    const pem = certificateOf(web, authority, { days: 4 });
    const endMs = Date.parse(new X509Certificate(issuer).validTo);
    expect(await identify(pem, () => endMs - 1)).toMatchObject({ kind: "identified" });
    expect(await identify(pem, () => endMs)).toMatchObject(
      refusedFor("is signed by an authority whose own holds from"),
    );
  });

  it("is refused where it is for servers alone, and taken where it is for any purpose", async () => {
    const purposes = (names: string) => identify(certificateOf(web, authority, { purposes: names }));
    expect(await purposes("serverAuth")).toMatchObject(refusedFor("lacks clientAuth"));
    expect(await purposes("anyExtendedKeyUsage")).toMatchObject({ kind: "identified" });
  });

  it("is refused on a connection that was opened before its authority's certificate ended", async () => {
    const pem = certificateOf(web, authority, { days: 4 });
    let nowMs = Date.parse(new X509Certificate(pem).validFrom);
    const clock = () => nowMs;
    const authentication = read("api-gateway", {}, clock);
    const request = { header: none, platform: gatewayEvent(pem) };
    expect(await authentication.identify(request)).toMatchObject({ kind: "identified" });
    nowMs = Date.parse(new X509Certificate(issuer).validTo);
    expect(await authentication.identify(request)).toMatchObject(refusedFor("authority"));
  });

  it.each<[string, string, () => string]>([
    [
      "another authority of the same name",
      "signed by none of the authorities",
      () => certificateOf(web, createAuthority(join(folder, crypto.randomUUID()))),
    ],
    ["another trust domain", "is of no trusted domain", () => certificateOf("spiffe://elsewhere/ns/default/sa/web")],
    ["two identities", "has no one SPIFFE id", () => certificateOf(`${web},URI:spiffe://cluster.local/ns/a/sa/a`)],
    ["no SPIFFE id", "has no one SPIFFE id", () => certificateOf("https://cluster.local/ns/default/sa/web")],
    ["a DNS name", "has no one SPIFFE id", () => readFileSync(issueServer(authority, "a.example").certificate, "utf8")],
    ["the authority itself", "is that of an authority", () => issuer],
    ["something else", "cannot be read", () => issuer.replace(/\n.{8}/, "\nAAAAAAAA")],
  ])("is refused where it is of %s", async (_what, reason, make) => {
    expect(await identify(make())).toMatchObject(refusedFor(reason));
  });

  it("lets a subject be granted more, or what its id does not say", async () => {
    const [operator, bare] = ["spiffe://cluster.local/ns/ops/sa/watch", "spiffe://cluster.local/laptop"];
    expect(await identify(certificateOf(bare))).toMatchObject(refusedFor(`nothing is granted to ${bare}`));
    const certificates = {
      platform: "api-gateway",
      issuers: [issuer],
      trustDomains: ["cluster.local"],
      clusterId: "c",
    };
    const subjects = { [operator]: { scope: "operator" }, [bare]: { namespace: "shop" } };
    const granted = readAuthentication(JSON.stringify({ certificates, subjects }));
    for (const [id, caller] of [
      [operator, { kind: "operator" }],
      [bare, { kind: "node", namespace: "shop", clusterId: "c" }],
    ] as const) {
      const platform = gatewayEvent(certificateOf(id));
      expect(await granted.identify({ header: none, platform })).toMatchObject({ caller });
    }
  });
});

describe("Cloudflare's other fields", () => {
  it.each([
    ["has not verified", "FAILED:self signed certificate", { certVerified: "FAILED:self signed certificate" }],
    ["reports without a result", "no certVerified", { certVerified: undefined }],
    ["has seen revoked", "is revoked", { certRevoked: "1" }],
    ["does not pass on for its size", "above 10 KB", { certRFC9440: "", certRFC9440TooLarge: true }],
  ])("refuse a certificate that Cloudflare %s", async (_what, reason, other) => {
    const { tlsClientAuth } = verifiedByCloudflare(certificateOf(web));
    const cf = { tlsClientAuth: { ...tlsClientAuth, ...other } };
    expect(await read("cloudflare").identify({ header: none, cf })).toMatchObject(refusedFor(reason));
  });

  it("refuse one that was revoked after it was accepted", async () => {
    const authentication = read("cloudflare");
    const cf = verifiedByCloudflare(certificateOf(web));
    expect(await authentication.identify({ header: none, cf })).toMatchObject({ kind: "identified" });
    const revoked = { tlsClientAuth: { ...cf.tlsClientAuth, certRevoked: "1" } };
    expect(await authentication.identify({ header: none, cf: revoked })).toMatchObject({ kind: "refused" });
  });
});

describe("a client certificate outside the platform's own field", () => {
  const unidentified = { kind: "refused", status: 401, reason: "the request proves no identity" };

  it("is not read from any header", async () => {
    const pem = certificateOf(web);
    const base64 = new X509Certificate(pem).raw.toString("base64");
    const headers: Readonly<Record<string, string>> = {
      "client-cert": `:${base64}:`,
      "cf-client-cert-der-base64": base64,
      "cloudfront-viewer-cert-pem": encodeURIComponent(pem),
      "x-amzn-mtls-clientcert-leaf": encodeURIComponent(pem),
      "x-forwarded-client-cert": `URI=${web}`,
    };
    for (const { platform } of ways)
      expect(await read(platform).identify({ header: (name) => headers[name] })).toEqual(unidentified);
  });

  it("is not read from the field of another platform", async () => {
    const [cf, platform] = [verifiedByCloudflare(certificateOf(web)), gatewayEvent(certificateOf(web))];
    expect(await read("cloudflare").identify({ header: none, platform })).toEqual(unidentified);
    expect(await read("api-gateway").identify({ header: none, cf })).toEqual(unidentified);
    // Cloudflare's placeholder where the client has none, and a function URL's.
    const absent = { tlsClientAuth: { certPresented: "0", certVerified: "NONE", certRevoked: "0", certRFC9440: "" } };
    expect(await read("cloudflare").identify({ header: none, cf: absent })).toEqual(unidentified);
    const url = { requestContext: { authentication: null } };
    expect(await read("api-gateway").identify({ header: none, platform: url })).toEqual(unidentified);
  });
});

describe("the setting", () => {
  it.each([
    [{ platform: "cloudfront" }, "certificates.platform is none of cloudflare and api-gateway"],
    [{ issuers: [] }, "certificates.issuers is empty"],
    [{ issuers: ["none"] }, "certificates.issuers[0] is not one certificate as PEM"],
    [{ issuers: () => [issuer + issuer] }, "certificates.issuers[0] is not one certificate as PEM"],
    [{ issuers: () => [certificateOf(web)] }, "certificates.issuers[0] is no authority's certificate"],
    [
      { issuers: ["-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"] },
      "certificates.issuers[0] is a certificate that cannot be read",
    ],
    [{ issuers: () => Array.from({ length: 9 }, () => issuer) }, "certificates.issuers holds more than 8"],
    [{ trustDomains: undefined }, "certificates.trustDomains is empty"],
    [{ header: "x" }, "certificates has a member header; known are platform, issuers, trustDomains, clusterId"],
  ])("says what is wrong with %j", (wrong, message) => {
    const made = Object.fromEntries(
      Object.entries(wrong).map(([name, value]) => [name, typeof value === "function" ? value() : value]),
    );
    expect(() => read("cloudflare", made)).toThrow(`PORTOLAN_AUTHENTICATION: ${message}`);
  });
});

describe("onlyUriOf", () => {
  it.each([
    ["URI:spiffe://a/b", "spiffe://a/b"],
    ["DNS:x.example, URI:spiffe://a/b, IP Address:10.0.0.1", "spiffe://a/b"],
    // A name that is made to look like two stands in quotes.
    ['DNS:"x, URI:spiffe://a/b"', undefined],
    ['DNS:"x\\", URI:spiffe://c/d", URI:spiffe://a/b', "spiffe://a/b"],
    ['URI:"spiffe://a/b, DNS:x"', undefined],
    ["URI:spiffe://a/b, URI:spiffe://a/b", undefined],
    ["URI:spiffe://a/b,URI:spiffe://c/d", undefined],
    ["spiffe://a/b", undefined],
    ["", undefined],
  ])("reads %j as %j", (names, uri) => {
    expect(onlyUriOf(names)).toBe(uri);
  });
});
