import { S3Client } from "@aws-sdk/client-s3";
import { describe, expect, it } from "vitest";
import { s3Store } from "../../lib/storage/s3.ts";
import { storeContract } from "./contract.ts";
import { startS3 } from "./s3-server.ts";

storeContract("S3", async () => {
  const server = await startS3();
  return { store: s3Store({ client: server.client, bucket: server.bucket }), close: server.close };
});

storeContract("S3 below a prefix", async () => {
  const server = await startS3();
  return { store: s3Store({ client: server.client, bucket: server.bucket, prefix: "meshes/a/" }), close: server.close };
});

describe("s3Store", () => {
  it("fails with the bucket's name when the server is down or the bucket is not there", async () => {
    const client = new S3Client({
      endpoint: "http://127.0.0.1:1",
      region: "us-east-1",
      forcePathStyle: true,
      maxAttempts: 1,
      credentials: { accessKeyId: "a", secretAccessKey: "b" },
    });
    await expect(s3Store({ client, bucket: "nowhere" }).get("HEAD")).rejects.toThrow("S3 bucket nowhere");
    const server = await startS3();
    await expect(s3Store({ client: server.client, bucket: "other" }).get("HEAD")).rejects.toThrow("S3 bucket other");
    await server.close();
  });
});
