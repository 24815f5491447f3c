import { mkdir, readFile } from "node:fs/promises";
import { createServer } from "node:http2";
import { dirname, join } from "node:path";
import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { SecretSchema } from "../../gen/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts";
import type { DiscoveryRequest } from "../../gen/envoy/service/discovery/v3/discovery_pb.ts";
import { SecretDiscoveryService } from "../../gen/envoy/service/secret/v3/sds_pb.ts";

/** Where Envoys look for their agent, from the folder that they were started in. */
const socketPath = "var/run/secrets/workload-spiffe-uds/socket";

/**
 * What Istio's agent and SPIRE's are to an Envoy: answers for its certificate and the roots it trusts, over SDS.
 *
 * @param directory that the Envoy is started in
 * @param identity folder that `issueIdentity` filled
 */
export async function startIdentityAgent(directory: string, identity: string): Promise<{ stop(): Promise<void> }> {
  const path = join(directory, socketPath);
  await mkdir(dirname(path), { recursive: true });
  async function* streamSecrets(requests: AsyncIterable<DiscoveryRequest>) {
    for await (const { responseNonce, resourceNames, typeUrl } of requests) {
      // It says that it has taken what it was given.
      if (responseNonce !== "") continue;
      const resources = await Promise.all(resourceNames.map((name) => secretOf(identity, name)));
      yield { versionInfo: "1", nonce: "1", typeUrl, resources };
    }
  }
  const server = createServer(
    connectNodeAdapter({ routes: (router) => router.service(SecretDiscoveryService, { streamSecrets }) }),
  );
  const sessions = new Set<{ destroy(): void }>();
  server.on("session", (session) => sessions.add(session));
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(path, listening);
  });
  return {
    stop: () =>
      new Promise((stopped) => {
        for (const session of sessions) session.destroy();
        server.close(() => stopped());
      }),
  };
}

async function secretOf(identity: string, name: string) {
  const file: { readonly resources: readonly JsonObject[] } = JSON.parse(
    await readFile(join(identity, `${name}.json`), "utf8"),
  );
  const { "@type": _type, ...secret } = file.resources[0] ?? {};
  return anyPack(SecretSchema, fromJson(SecretSchema, secret));
}
