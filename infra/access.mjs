// What each function may do with the bucket, by the keys that it needs and no others.

import { Effect, PolicyStatement } from "aws-cdk-lib/aws-iam";

/**
 * @param {import("aws-cdk-lib/aws-s3").IBucket} bucket
 * @param {readonly string[]} actions
 * @param {readonly string[]} keys
 */
function onKeys(bucket, actions, keys) {
  return new PolicyStatement({
    effect: Effect.ALLOW,
    actions: actions.map((action) => `s3:${action}`),
    resources: keys.map((key) => bucket.arnForObjects(key)),
  });
}

/** Without it an object that is not there cannot be told from one that is forbidden. It shows names, and no content. */
const listing = (/** @type {import("aws-cdk-lib/aws-s3").IBucket} */ bucket) =>
  new PolicyStatement({ effect: Effect.ALLOW, actions: ["s3:ListBucket"], resources: [bucket.bucketArn] });

/**
 * The front reads what is published; secrets only where it serves them. It writes nothing.
 *
 * @param {import("aws-cdk-lib/aws-s3").IBucket} bucket
 * @param {{ secrets: boolean }} options
 */
export function frontAccess(bucket, { secrets }) {
  return secrets
    ? [onKeys(bucket, ["GetObject"], ["HEAD", "blobs/*", "secrets/*"]), listing(bucket)]
    : [onKeys(bucket, ["GetObject"], ["HEAD", "blobs/*"])];
}

/**
 * Whoever compiles reads sources and publishes; secrets are nothing to it, and what was published it never deletes.
 *
 * @param {import("aws-cdk-lib/aws-s3").IBucket} bucket
 */
export function compileAccess(bucket) {
  return [
    onKeys(
      bucket,
      ["GetObject", "PutObject"],
      ["HEAD", "blobs/*", "compile/*", "gc/*", "heads/*", "hooks/*", "sources/*"],
    ),
    onKeys(bucket, ["DeleteObject"], ["hooks/*", "sources/*"]),
    listing(bucket),
  ];
}
