/** An OpenID Connect issuer over real TLS, whose keys, answers and outages a test decides. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { createAuthority, issueServer } from "../e2e/certificates.ts";

/** The name that its certificate is for; it resolves to this machine. */
const host = "localhost";

export interface Issuer {
  /** `iss` of its tokens. */
  readonly url: string;
  readonly jwksUri: string;
  /** The authority that its certificate is from, PEM. */
  readonly caBundle: string;
  /** How often its keys were asked for. */
  readonly asked: () => number;
  /** Signs with a new key from now on. @param keeps whether the keys of before stay in the set */
  rotate(keeps: boolean): Promise<void>;
  /** A token of the key that it signs with now. */
  token(claims?: Readonly<Record<string, unknown>>): Promise<string>;
  /** What answers in its place until it is given `undefined`. */
  answer(with_: ((request: IncomingMessage, response: ServerResponse) => void) | undefined): void;
  close(): Promise<void>;
}

interface SigningKey {
  readonly kid: string;
  readonly privateKey: Parameters<SignJWT["sign"]>[0];
  readonly jwk: object;
}

/** @param isClear over HTTP without TLS, for what trusts public authorities alone */
export async function openIssuer(isClear = false): Promise<Issuer> {
  const folder = mkdtempSync(join(tmpdir(), "portolan-issuer-"));
  const authority = createAuthority(join(folder, "authority"));
  const { certificate, key } = issueServer(authority, host);
  let count = 0;
  let asked = 0;
  let instead: Parameters<Issuer["answer"]>[0];
  const newKey = async (): Promise<SigningKey> => {
    count += 1;
    const kid = `key-${count}`;
    const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
    return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: "RS256", use: "sig" } };
  };
  let keys: readonly SigningKey[] = [await newKey()];
  const listener: RequestListener = (request, response) => {
    if (request.url === "/keys") asked += 1;
    if (instead !== undefined) return instead(request, response);
    const etag = `"${keys.map(({ kid }) => kid).join()}"`;
    if (request.url === "/keys" && request.headers["if-none-match"] === etag) return response.writeHead(304).end();
    response.setHeader("etag", etag);
    if (request.url === "/keys") return response.end(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
    if (request.url === "/.well-known/openid-configuration")
      return response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/keys` }));
    response.writeHead(404).end();
  };
  const tls = { cert: readFileSync(certificate), key: readFileSync(key) };
  const server = isClear ? http.createServer(listener) : https.createServer(tls, listener);
  await new Promise<void>((listening) => server.listen(0, host, listening));
  const url = `${isClear ? "http" : "https"}://${host}:${(server.address() as AddressInfo).port}`;
  return {
    url,
    jwksUri: `${url}/keys`,
    caBundle: readFileSync(authority, "utf8"),
    asked: () => asked,
    async rotate(keeps) {
      keys = [await newKey(), ...(keeps ? keys : [])];
    },
    token(claims = {}) {
      const [signer] = keys;
      if (signer === undefined) throw new Error("the issuer has no key");
      return new SignJWT({ ...claims })
        .setProtectedHeader({ alg: "RS256", kid: signer.kid })
        .setIssuer(url)
        .setSubject("reader")
        .setExpirationTime("2h")
        .sign(signer.privateKey);
    },
    answer(with_) {
      instead = with_;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
