/** A registry of images over real TLS, as the OCI distribution specification has it, and a web server beside it, at the same port. */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import { createAuthority, issueServer } from "../e2e/certificates.ts";

const host = "localhost";

export type Bytes = Uint8Array<ArrayBuffer>;

export const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export interface Layer {
  readonly mediaType: string;
  readonly bytes: Bytes;
}

export interface TestRegistry {
  /** `localhost:PORT`. */
  readonly host: string;
  /** The authority that its certificate is from, PEM. */
  readonly caBundle: string;
  /** Puts an image, and gives the digest of its manifest. */
  push(name: string, tag: string, layers: readonly Layer[]): string;
  /** Puts an index that names images by digest. */
  pushIndex(name: string, tag: string, manifests: readonly { digest: string; architecture: string }[]): void;
  /** Puts a file at a path of the web server. */
  file(path: string, bytes: Bytes): void;
  /** Asks for credentials from now on: over a token, or by themselves. */
  protect(how: "bearer" | "basic", credentials: string): void;
  /** What was asked for: methods, paths and how it was proven who asks. */
  readonly asked: readonly string[];
  /** What answers in its place until it is given `undefined`. */
  answer(with_: ((request: IncomingMessage, response: ServerResponse) => void) | undefined): void;
  close(): Promise<void>;
}

/** A tar, compressed, with a file. */
export async function tarLayer(name: string, bytes: Bytes, isCompressed = true): Promise<Layer> {
  const tar = await packTar([
    { header: { name: "manifest.yaml", size: 2, type: "file" }, body: "{}" },
    { header: { name, size: bytes.length, type: "file" }, body: bytes },
  ]);
  return isCompressed
    ? { mediaType: "application/vnd.oci.image.layer.v1.tar+gzip", bytes: new Uint8Array(gzipSync(tar)) }
    : { mediaType: "application/vnd.oci.image.layer.v1.tar", bytes: new Uint8Array(tar) };
}

export const moduleLayer = (bytes: Bytes): Layer => ({
  mediaType: "application/vnd.module.wasm.content.layer.v1+wasm",
  bytes,
});

export async function openRegistry(): Promise<TestRegistry> {
  const folder = mkdtempSync(join(tmpdir(), "portolan-registry-"));
  const authority = createAuthority(join(folder, "authority"));
  const { certificate, key } = issueServer(authority, host);
  const found = new Map<string, { readonly type: string; readonly bytes: Bytes }>();
  const asked: string[] = [];
  let protection: { readonly how: "bearer" | "basic"; readonly credentials: string } | undefined;
  let instead: Parameters<TestRegistry["answer"]>[0];

  function isLetIn(request: IncomingMessage, response: ServerResponse): boolean {
    const { authorization = "" } = request.headers;
    if (protection === undefined || !request.url?.startsWith("/v2/")) return true;
    const basic = `Basic ${Buffer.from(protection.credentials).toString("base64")}`;
    if (authorization === (protection.how === "basic" ? basic : "Bearer good")) return true;
    const challenge =
      protection.how === "basic"
        ? 'Basic realm="registry"'
        : `Bearer realm="https://${host}:${port()}/token",service="registry",scope="repository:x:pull"`;
    response.writeHead(401, { "www-authenticate": challenge }).end();
    return false;
  }
  const server = https.createServer(
    { cert: readFileSync(certificate), key: readFileSync(key) },
    (request, response) => {
      const path = request.url ?? "";
      asked.push(`${path} ${request.headers.authorization?.split(" ")[0] ?? "-"}`);
      if (instead !== undefined) return instead(request, response);
      if (path.startsWith("/token?")) {
        const basic = `Basic ${Buffer.from(protection?.credentials ?? "").toString("base64")}`;
        const isKnown = request.headers.authorization === basic;
        return response.writeHead(isKnown ? 200 : 401).end(isKnown ? '{"token":"good"}' : "");
      }
      if (!isLetIn(request, response)) return;
      const one = found.get(path);
      if (one === undefined) return response.writeHead(404).end();
      const etag = `"${digestOf(one.bytes)}"`;
      if (request.headers["if-none-match"] === etag) return response.writeHead(304).end();
      response.writeHead(200, { "content-type": one.type, etag }).end(one.bytes);
    },
  );
  await new Promise<void>((listening) => server.listen(0, host, listening));
  const port = () => (server.address() as AddressInfo).port;

  function putManifest(name: string, tag: string, manifest: { readonly mediaType: string }): string {
    const bytes = new TextEncoder().encode(JSON.stringify({ schemaVersion: 2, ...manifest }));
    const digest = `sha256:${digestOf(bytes)}`;
    for (const reference of [tag, digest])
      found.set(`/v2/${name}/manifests/${reference}`, { type: manifest.mediaType, bytes });
    return digest;
  }
  return {
    host: `${host}:${port()}`,
    caBundle: readFileSync(authority, "utf8"),
    push(name, tag, layers) {
      const described = layers.map(({ mediaType, bytes }) => {
        const digest = `sha256:${digestOf(bytes)}`;
        found.set(`/v2/${name}/blobs/${digest}`, { type: "application/octet-stream", bytes });
        return { mediaType, size: bytes.length, digest };
      });
      return putManifest(name, tag, {
        mediaType: "application/vnd.oci.image.manifest.v1+json",
        ...{ config: { mediaType: "application/vnd.oci.image.config.v1+json" }, layers: described },
      });
    },
    pushIndex(name, tag, manifests) {
      putManifest(name, tag, {
        mediaType: "application/vnd.oci.image.index.v1+json",
        ...{
          manifests: manifests.map(({ digest, architecture }) => ({
            digest,
            platform: { os: "wasip1", architecture },
          })),
        },
      });
    },
    file: (path, bytes) => void found.set(path, { type: "application/wasm", bytes }),
    protect(how, credentials) {
      protection = { how, credentials };
    },
    asked,
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
