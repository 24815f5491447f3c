// What each function may do with the bucket, by the keys that it needs and no others; and who may use the key to secrets.

import { Aws } from "aws-cdk-lib";
import {
  AccountRootPrincipal,
  AnyPrincipal,
  ArnPrincipal,
  Effect,
  PolicyDocument,
  PolicyStatement,
} from "aws-cdk-lib/aws-iam";

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
 * The front reads what is published; secrets only where it serves them. It writes nothing but records of what nodes want and have
 * confirmed, where that is asked for.
 *
 * @param {import("aws-cdk-lib/aws-s3").IBucket} bucket
 * @param {{ secrets: boolean, wanted: boolean, confirmations: boolean }} options
 */
export function frontAccess(bucket, { secrets, wanted, confirmations }) {
  return [
    onKeys(bucket, ["GetObject"], ["HEAD", "analysis/*", "blobs/*", "packs/*", ...(secrets ? ["secrets/*"] : [])]),
    ...(wanted ? [onKeys(bucket, ["PutObject"], ["wanted/*"])] : []),
    ...(confirmations ? [onKeys(bucket, ["GetObject", "PutObject"], ["confirmed/*"])] : []),
    ...(secrets || wanted || confirmations ? [listing(bucket)] : []),
  ];
}

/**
 * Of a copy in another region the front reads what it reads of the bucket, and writes nothing.
 *
 * @param {string} place `s3://bucket/prefix?region=REGION`, as PORTOLAN_STORE_COPY has it
 * @param {{ secrets: boolean }} options
 */
export function copyAccess(place, { secrets }) {
  const [, name, prefix = ""] = /^s3:\/\/([^/?]+)\/?([^?]*)/.exec(place) ?? [];
  if (name === undefined) throw new Error(`PORTOLAN_STORE_COPY names no bucket: ${place}`);
  const folder = prefix === "" ? "" : `${prefix.replace(/\/+$/, "")}/`;
  return new PolicyStatement({
    effect: Effect.ALLOW,
    actions: ["s3:GetObject"],
    resources: ["HEAD", "blobs/*", ...(secrets ? ["secrets/*"] : [])].map(
      (key) => `arn:${Aws.PARTITION}:s3:::${name}/${folder}${key}`,
    ),
  });
}

/**
 * The front signs certificates with the key that the CA was made with, and does nothing else with it.
 *
 * @param {string} arn of the key itself: rights to an alias say nothing
 */
export function caKeyAccess(arn) {
  if (!/^arn:[a-z-]+:kms:[a-z0-9-]+:\d{12}:key\/[\w-]+$/.test(arn))
    throw new Error(`PORTOLAN_CA_KEY_ARN is no ARN of a key: ${arn}`);
  return new PolicyStatement({ effect: Effect.ALLOW, actions: ["kms:Sign"], resources: [arn] });
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
      ["HEAD", "analysis/*", "blobs/*", "compile/*", "gc/*", "heads/*", "hooks/*", "packs/*", "sources/*"],
    ),
    onKeys(bucket, ["GetObject"], ["registered/*", "wanted/*"]),
    onKeys(bucket, ["DeleteObject"], ["hooks/*", "registered/*", "sources/*", "wanted/*", "compile/slices/*"]),
    listing(bucket),
  ];
}

/** What is collected besides blobs, by the folder it lies in. */
const collectedKeys = [
  "analysis/*",
  "blobs/*",
  "compile/slices/*",
  "confirmed/*",
  "heads/*",
  "hooks/*",
  "packs/*",
  "sources/*",
  "status/*",
];

/**
 * The function that collects garbage alone may delete what was published. It reads what it deletes, since it writes an object again that a
 * publish came to need meanwhile, and moves HEAD on, by which a publish under way finds out. It reaches no secret.
 *
 * @param {import("aws-cdk-lib/aws-s3").IBucket} bucket
 */
export function garbageAccess(bucket) {
  return [
    onKeys(bucket, ["GetObject", "PutObject"], ["HEAD", "gc/*", ...collectedKeys]),
    onKeys(bucket, ["DeleteObject"], collectedKeys),
    listing(bucket),
  ];
}

/**
 * Whoever compiles slices reads sources and what is published, and writes blobs and records of slices: HEAD it never moves.
 *
 * @param {import("aws-cdk-lib/aws-s3").IBucket} bucket
 */
export function sliceAccess(bucket) {
  return [
    onKeys(bucket, ["GetObject"], ["HEAD", "blobs/*", "compile/slices/*", "gc/*", "sources/*"]),
    // What it finds in place it takes off the list of what is about to be collected.
    onKeys(bucket, ["PutObject"], ["blobs/*", "compile/slices/*", "gc/*"]),
    listing(bucket),
  ];
}

/**
 * Whoever writes HEAD, by whatever tool, says what it replaces: no write by hand and no restored copy overwrites what somebody else has
 * published meanwhile. Copies that S3 makes are refused with it, since they name nothing.
 *
 * @param {import("aws-cdk-lib/aws-s3").IBucket} bucket
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes-enforce.html
 */
export function onlyComparedAndSwapped(bucket) {
  return new PolicyStatement({
    effect: Effect.DENY,
    principals: [new AnyPrincipal()],
    actions: ["s3:PutObject"],
    // Of every mesh in the bucket: each has its own prefix.
    resources: [bucket.arnForObjects("HEAD"), bucket.arnForObjects("*/HEAD")],
    conditions: {
      Null: { "s3:if-match": "true", "s3:if-none-match": "true" },
      // The parts of an upload cannot name anything; its end can.
      Bool: { "s3:ObjectCreationOperation": "true" },
    },
  });
}

/** Everything that an account needs to keep a key, and nothing that uses it, or grants its use. */
const keeping = [
  "CancelKeyDeletion",
  "CreateAlias",
  "Delete*",
  "Describe*",
  "Disable*",
  "Enable*",
  "Get*",
  "List*",
  "Put*",
  "Revoke*",
  "RotateKeyOnDemand",
  "ScheduleKeyDeletion",
  "TagResource",
  "UntagResource",
  "Update*",
];

/**
 * The policy of the key to secrets. IAM gives nobody the use of it, since the account may only keep it: the front opens secrets, who
 * writes them seals them, and neither does anything else with it, as the encryption context says.
 *
 * @param {import("aws-cdk-lib/aws-iam").IGrantable} front
 * @param {readonly string[]} writers ARNs of roles or users
 */
export function secretsKeyPolicy(front, writers) {
  /** @param {readonly string[]} actions */
  const statement = (actions) => ({
    effect: Effect.ALLOW,
    actions: actions.map((action) => `kms:${action}`),
    // A key's policy is about that key.
    resources: ["*"],
  });
  const forSecrets = { StringEquals: { "kms:EncryptionContext:portolan": "secret" } };
  return new PolicyDocument({
    statements: [
      new PolicyStatement({ ...statement(keeping), principals: [new AccountRootPrincipal()] }),
      new PolicyStatement({
        ...statement(["Decrypt"]),
        principals: [front.grantPrincipal],
        conditions: forSecrets,
      }),
      new PolicyStatement({
        ...statement(["Encrypt"]),
        principals: writers.map((arn) => new ArnPrincipal(arn)),
        conditions: forSecrets,
      }),
    ],
  });
}
