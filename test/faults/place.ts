/** Where faults are tried: a store that others lose, and that somebody else can silence. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { S3Client } from "@aws-sdk/client-s3";
import { fileStore } from "../../lib/storage/files/files.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { s3Store } from "../../lib/storage/s3.ts";
import { startS3 } from "../storage/s3-server.ts";
import { startSilentProxy } from "../storage/silent-proxy.ts";

export type PlaceName = "files" | "S3";

export interface Place {
  readonly name: PlaceName;
  /** As whoever tries the faults sees it: never silent. */
  readonly store: ObjectStore;
  /** As a front sees it. */
  readonly frontStore: ObjectStore;
  /** What a publisher's process is told of it. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** From now on nothing answers publishers and fronts, and nobody is told; absent where a folder always answers. */
  readonly silence?: () => void;
  readonly recover?: () => void;
  close(): Promise<void>;
}

export const openTarget = (name: PlaceName): Promise<Place> => (name === "files" ? openFolder() : openS3());

async function openFolder(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "portolan-faults-"));
  const store = fileStore(folder);
  return {
    name: "files",
    store,
    frontStore: fileStore(folder),
    args: [folder],
    env: {},
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

async function openS3(): Promise<Place> {
  const server = await startS3();
  const proxy = await startSilentProxy(server.endpoint);
  const { bucket, accessKeyId, secretAccessKey } = server;
  const credentials = { accessKeyId, secretAccessKey };
  const far = new S3Client({ endpoint: proxy.endpoint, region: "us-east-1", forcePathStyle: true, credentials });
  return {
    name: "S3",
    store: s3Store({ client: server.client, bucket }),
    frontStore: s3Store({ client: far, bucket }),
    args: [`s3://${bucket}`, proxy.endpoint],
    env: { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
    silence: proxy.silence,
    recover: proxy.recover,
    async close() {
      far.destroy();
      await proxy.close();
      await server.close();
    },
  };
}
