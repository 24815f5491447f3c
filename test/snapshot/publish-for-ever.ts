/** A process that publishes without end, to be killed: `node publish-for-ever.ts <folder | s3 endpoint> <bucket>`. */
import { S3Client } from "@aws-sdk/client-s3";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import { s3Store } from "../../lib/storage/s3.ts";
import { worldOf } from "./worlds.ts";

const [where = "", bucket] = process.argv.slice(2);
const store =
  bucket === undefined
    ? fileStore(where)
    : s3Store({ client: new S3Client({ endpoint: where, forcePathStyle: true }), bucket });
const publisher = createPublisher(store, { pace: { settleMs: 50, retentionMs: 50 } });
for (let i = 0; ; i += 1) {
  const clusters = Object.fromEntries(
    Array.from({ length: 200 }, (_, n) => [`c${n}`, `${"x".repeat(800)}${n === i % 200 ? i : ""}`]),
  );
  const world = worldOf({ web: { clusters, listeners: { l: "1" }, routes: { "80": String(i) } } });
  const result = await publisher.publish(world, await publisher.head());
  // Told only after HEAD has moved: whoever reads it may count on it.
  if (result.kind === "published") process.stdout.write(`${result.head.generation}\n`);
}
