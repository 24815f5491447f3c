import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { App } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { PortolanStack } from "./stack.mjs";

function synthesise(props = {}) {
  const folder = mkdtempSync(join(tmpdir(), "portolan-infra-"));
  writeFileSync(join(folder, "index.mjs"), "export const handler = () => {};");
  const app = new App({ analyticsReporting: false });
  return Template.fromStack(
    new PortolanStack(app, "Portolan", {
      code: { front: folder, compile: folder, slice: folder, garbage: folder },
      ...props,
    }),
  );
}

/** `action key` of everything that a function's role allows; a bucket itself is `-`. */
function allowedOf(template, roleMatch) {
  return Object.values(template.findResources("AWS::IAM::Policy"))
    .filter(({ Properties }) => Properties.Roles.some(({ Ref }) => Ref.startsWith(roleMatch)))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
    .flatMap(({ Action, Resource }) =>
      [Action].flat().flatMap((action) => [Resource].flat().map((resource) => `${action} ${keyIn(resource)}`)),
    )
    .sort();
}

const keyIn = (resource) => resource["Fn::Join"]?.[1].at(-1).replace(/^\//, "") ?? "-";
const s3Of = (template, role) => allowedOf(template, role).filter((line) => line.startsWith("s3:"));

/** Variables of a function, by the beginning of its name. */
function environmentOf(template, name) {
  const found = Object.entries(template.findResources("AWS::Lambda::Function")).find(([id]) => id.startsWith(name));
  return found?.[1].Properties.Environment.Variables ?? {};
}

describe("the stack", () => {
  const template = synthesise();

  it("keeps snapshots private, encrypted, versioned, and over TLS only", () => {
    template.hasResourceProperties("AWS::S3::Bucket", {
      PublicAccessBlockConfiguration: { BlockPublicAcls: true, RestrictPublicBuckets: true },
      VersioningConfiguration: { Status: "Enabled" },
    });
    template.hasResource("AWS::S3::Bucket", { DeletionPolicy: "Retain" });
    template.hasResourceProperties("AWS::S3::BucketPolicy", {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Effect: "Deny", Condition: { Bool: { "aws:SecureTransport": "false" } } }),
        ]),
      },
    });
  });

  it("encrypts snapshots at rest", () => {
    template.hasResourceProperties("AWS::S3::Bucket", {
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }],
      },
    });
  });

  it("refuses every write of a HEAD that does not say what it replaces, whoever writes it and in whatever mesh", () => {
    const policies = Object.values(template.findResources("AWS::S3::BucketPolicy"));
    const [{ Principal, Action, Resource, Condition }, ...more] = policies
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
      .filter(({ Action: action }) => action === "s3:PutObject");
    assert.deepEqual([more, Principal, Action], [[], { AWS: "*" }, "s3:PutObject"]);
    assert.deepEqual(Resource.map(keyIn).sort(), ["*/HEAD", "HEAD"]);
    // Both in one block: a write that names either is let through.
    assert.deepEqual(Condition, {
      Null: { "s3:if-match": "true", "s3:if-none-match": "true" },
      Bool: { "s3:ObjectCreationOperation": "true" },
    });
  });

  it("lets go of old versions and of names of deliveries by itself, and of nothing that only `portolan gc` may collect", () => {
    const [bucket] = Object.values(template.findResources("AWS::S3::Bucket"));
    const rules = bucket.Properties.LifecycleConfiguration.Rules;
    const ending = rules.filter((rule) => Object.keys(rule).some((name) => /^Expiration(InDays|Date)?$/.test(name)));
    assert.deepEqual(
      ending.map(({ Prefix, ExpirationInDays }) => [Prefix, ExpirationInDays]),
      [["hooks/", 7]],
    );
    assert.deepEqual(
      rules.flatMap(({ NoncurrentVersionExpiration }) => NoncurrentVersionExpiration?.NoncurrentDays ?? []),
      [30],
    );
    assert.ok(rules.every(({ Transitions }) => Transitions === undefined));
    assert.ok(rules.some(({ ExpiredObjectDeleteMarker }) => ExpiredObjectDeleteMarker === true));
  });

  it("streams what the front answers, which its handler needs, and nothing else", () => {
    const urls = Object.values(template.findResources("AWS::Lambda::Url")).map(({ Properties }) => [
      Properties.TargetFunctionArn["Fn::GetAtt"][0].replace(/[0-9A-F]{8}$/, ""),
      Properties.InvokeMode ?? "BUFFERED",
    ]);
    assert.deepEqual(urls.sort(), [
      ["Front", "RESPONSE_STREAM"],
      ["Hooks", "BUFFERED"],
    ]);
  });

  it("lets the front read HEAD and blobs, and nothing else", () => {
    assert.deepEqual(allowedOf(template, "FrontServiceRole"), [
      "s3:GetObject HEAD",
      "s3:GetObject analysis/*",
      "s3:GetObject blobs/*",
      "s3:GetObject packs/*",
    ]);
  });

  it("lets the front read secrets only where it has the key to them", () => {
    const key = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:portolan-abcdef";
    const serving = synthesise({ secretArns: { PORTOLAN_SECRETS_KEY: key } });
    assert.deepEqual(allowedOf(serving, "FrontServiceRole"), [
      "s3:GetObject HEAD",
      "s3:GetObject analysis/*",
      "s3:GetObject blobs/*",
      "s3:GetObject packs/*",
      "s3:GetObject secrets/*",
      "s3:ListBucket -",
    ]);
    assert.ok("PORTOLAN_SECRETS_KEY" in environmentOf(serving, "Front"));
    for (const name of ["Compile", "Hooks"]) assert.ok(!("PORTOLAN_SECRETS_KEY" in environmentOf(serving, name)));
  });

  it("gives the webhooks' token to the function with an address, and to no other", () => {
    const token = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:token-abcdef";
    const admitting = synthesise({
      compileSettings: { PORTOLAN_ADMISSION_INJECTION: "{}" },
      secretArns: { PORTOLAN_ADMISSION_TOKEN: token },
    });
    assert.ok("PORTOLAN_ADMISSION_TOKEN" in environmentOf(admitting, "Hooks"));
    assert.equal(environmentOf(admitting, "Hooks").PORTOLAN_ADMISSION_INJECTION, "{}");
    for (const name of ["Front", "Compile"]) assert.ok(!("PORTOLAN_ADMISSION_TOKEN" in environmentOf(admitting, name)));
  });

  describe("with a key of KMS's for secrets", () => {
    const writer = "arn:aws:iam::123456789012:role/certificates";
    const old = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:portolan-abcdef";
    const keyed = synthesise({ secretsWriters: [writer], secretArns: { PORTOLAN_SECRETS_KEY: old } });
    const keys = Object.entries(keyed.findResources("AWS::KMS::Key"));

    it("lets the front decrypt, writers encrypt, and nobody else do either", () => {
      assert.equal(keys.length, 1);
      const [keeping, ...using] = keys[0][1].Properties.KeyPolicy.Statement;
      assert.match(JSON.stringify(keeping.Principal), /:root"/);
      for (const action of keeping.Action)
        assert.doesNotMatch(action, /crypt|Generate|Derive|CreateGrant|kms:(?:Create)?\*/);
      const asSecret = { StringEquals: { "kms:EncryptionContext:portolan": "secret" } };
      const [front, writing] = using;
      assert.match(front.Principal.AWS["Fn::GetAtt"][0], /^FrontServiceRole/);
      assert.deepEqual([front.Action, front.Condition], ["kms:Decrypt", asSecret]);
      assert.deepEqual(
        [writing.Principal, writing.Action, writing.Condition],
        [{ AWS: writer }, "kms:Encrypt", asSecret],
      );
      assert.equal(using.length, 2);
      assert.doesNotMatch(JSON.stringify(keyed.findResources("AWS::IAM::Policy")), /kms:/);
    });

    it("turns its material over each year and outlives the stack", () => {
      assert.equal(keys[0][1].Properties.EnableKeyRotation, true);
      keyed.hasResource("AWS::KMS::Key", { DeletionPolicy: "Retain" });
    });

    it("tells the front of it first, and of the key before it, and nobody else", () => {
      const told = JSON.stringify(environmentOf(keyed, "Front").PORTOLAN_SECRETS_KEY);
      assert.match(told, /aws-kms:.*SecretsKey.* \{\{resolve:secretsmanager:/);
      for (const name of ["Compile", "Hooks"]) assert.ok(!("PORTOLAN_SECRETS_KEY" in environmentOf(keyed, name)));
      assert.ok(s3Of(keyed, "FrontServiceRole").includes("s3:GetObject secrets/*"));
    });

    it("is none that nobody may write with", () => template.resourceCountIs("AWS::KMS::Key", 0));
  });

  it("lets the front sign with the CA's key, do nothing else with it, and nobody else do either", () => {
    const arn = "arn:aws:kms:eu-west-1:123456789012:key/0a1b";
    const signing = synthesise({ caKeyArn: arn, frontSettings: { PORTOLAN_CA: "on" } });
    const using = Object.values(signing.findResources("AWS::IAM::Policy"))
      .flatMap(({ Properties }) =>
        Properties.PolicyDocument.Statement.map((statement) => [Properties.Roles[0].Ref, statement]),
      )
      .filter(([, { Action }]) => JSON.stringify(Action).includes("kms:"));
    assert.equal(using.length, 1);
    const [[role, { Action, Resource, Effect }]] = using;
    assert.match(role, /^FrontServiceRole/);
    assert.deepEqual([Action, Resource, Effect], ["kms:Sign", arn, "Allow"]);
    assert.equal(environmentOf(signing, "Front").PORTOLAN_CA, "on");
    assert.throws(() => synthesise({ caKeyArn: "alias/ca" }), /PORTOLAN_CA_KEY_ARN is no ARN of a key/);
  });

  it("lets the front read a copy in another region, its part of that bucket and nothing else, and write nothing there", () => {
    const place = "s3://mesh-west/prod?region=eu-west-1";
    const copied = synthesise({ frontSettings: { PORTOLAN_STORE_COPY: place } });
    assert.equal(environmentOf(copied, "Front").PORTOLAN_STORE_COPY, place);
    const more = s3Of(copied, "FrontServiceRole").filter((line) => !s3Of(template, "FrontServiceRole").includes(line));
    assert.deepEqual(more, ["s3:GetObject :s3:::mesh-west/prod/HEAD", "s3:GetObject :s3:::mesh-west/prod/blobs/*"]);
    const secretArns = { PORTOLAN_SECRETS_KEY: "arn:aws:secretsmanager:us-east-1:1:secret:k" };
    const keyed = synthesise({ frontSettings: { PORTOLAN_STORE_COPY: place }, secretArns });
    assert.ok(s3Of(keyed, "FrontServiceRole").includes("s3:GetObject :s3:::mesh-west/prod/secrets/*"));
    for (const role of ["CompileServiceRole", "HooksServiceRole"])
      assert.deepEqual(s3Of(copied, role), s3Of(template, role));
    assert.throws(() => synthesise({ frontSettings: { PORTOLAN_STORE_COPY: "west" } }), /names no bucket: west/);
  });

  it("lets whoever compiles publish, never delete what was published, and never see a secret", () => {
    for (const role of ["CompileServiceRole", "HooksServiceRole"]) {
      const keys = ["HEAD", "analysis/*", "blobs/*", "compile/*", "gc/*", "heads/*", "hooks/*", "packs/*", "sources/*"];
      assert.deepEqual(
        s3Of(template, role),
        [
          ...["compile/slices/*", "hooks/*", "registered/*", "sources/*", "wanted/*"].map(
            (key) => `s3:DeleteObject ${key}`,
          ),
          ...[...keys, "registered/*", "wanted/*"].map((key) => `s3:GetObject ${key}`),
          ...keys.map((key) => `s3:PutObject ${key}`),
          "s3:ListBucket -",
        ].sort(),
      );
    }
    const services = (role) => [...new Set(allowedOf(template, role).map((line) => line.split(":")[0]))].sort();
    assert.deepEqual(services("CompileServiceRole"), ["s3", "sqs"]);
    assert.deepEqual(services("HooksServiceRole"), ["s3"]);
  });

  it("lets one function by itself delete what was published, once a day, and see no secret", () => {
    const collected = [
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
    assert.deepEqual(
      allowedOf(template, "GarbageServiceRole"),
      [
        ...collected.map((key) => `s3:DeleteObject ${key}`),
        ...["HEAD", "gc/*", ...collected].flatMap((key) => [`s3:GetObject ${key}`, `s3:PutObject ${key}`]),
        "s3:ListBucket -",
      ].sort(),
    );
    for (const role of ["FrontServiceRole", "CompileServiceRole", "HooksServiceRole"])
      assert.deepEqual(
        s3Of(template, role).filter((line) => /^s3:DeleteObject (?:blobs|heads|HEAD|gc)/.test(line)),
        [],
      );
    template.hasResourceProperties("AWS::Events::Rule", {
      ScheduleExpression: "cron(17 3 * * ? *)",
      Targets: [Match.objectLike({ Arn: { "Fn::GetAtt": [Match.stringLikeRegexp("^Garbage"), "Arn"] } })],
    });
    const key = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:portolan-abcdef";
    const signed = synthesise({
      secretArns: { PORTOLAN_SIGNING_KEY: key },
      compileSettings: { PORTOLAN_TRUSTED_KEYS: "{}", PORTOLAN_GC_KEEP: "9" },
    });
    const names = ["PORTOLAN_BUCKET", "PORTOLAN_GC_KEEP", "PORTOLAN_SIGNING_KEY", "PORTOLAN_TRUSTED_KEYS"];
    assert.deepEqual(Object.keys(environmentOf(signed, "Garbage")).sort(), names);
  });

  it("has no such function, role and schedule where that is turned off", () => {
    const without = synthesise({ garbage: false });
    without.resourceCountIs("AWS::Lambda::Function", 3);
    assert.deepEqual(allowedOf(without, "GarbageServiceRole"), []);
    without.resourceCountIs("AWS::Events::Rule", 2);
  });

  it("has functions log JSON, what fails of Lambda's own lines, and nothing for each invocation", () => {
    for (const { Properties } of Object.values(template.findResources("AWS::Lambda::Function"))) {
      const { LogFormat, SystemLogLevel, ApplicationLogLevel } = Properties.LoggingConfig;
      assert.deepEqual([LogFormat, SystemLogLevel, ApplicationLogLevel], ["JSON", "WARN", "INFO"]);
    }
  });

  it("hands slices to a function of their own where that is asked for, which never moves HEAD", () => {
    const sliced = synthesise({ compileSettings: { PORTOLAN_COMPILE_SLICES: "8" } });
    sliced.resourceCountIs("AWS::Lambda::Function", 5);
    const queueOf = (name) => ({ "Fn::GetAtt": [Match.stringLikeRegexp(`^${name}`), "Arn"] });
    sliced.hasResourceProperties("AWS::SQS::Queue", {
      SqsManagedSseEnabled: true,
      VisibilityTimeout: 90,
      RedrivePolicy: { deadLetterTargetArn: queueOf("SliceDeadLetters"), maxReceiveCount: 3 },
    });
    sliced.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
      EventSourceArn: queueOf("Slices"),
      BatchSize: 1,
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      ScalingConfig: { MaximumConcurrency: 20 },
    });
    assert.deepEqual(
      s3Of(sliced, "SliceServiceRole"),
      [
        ...["HEAD", "blobs/*", "compile/slices/*", "gc/*", "sources/*"].map((key) => `s3:GetObject ${key}`),
        ...["blobs/*", "compile/slices/*", "gc/*"].map((key) => `s3:PutObject ${key}`),
        "s3:ListBucket -",
      ].sort(),
    );
    for (const name of ["Compile", "Hooks"]) {
      assert.ok(environmentOf(sliced, name).PORTOLAN_SLICE_QUEUE_URL !== undefined);
      assert.ok(allowedOf(sliced, `${name}ServiceRole`).some((line) => line.startsWith("sqs:SendMessage ")));
    }
    const alarms = Object.values(sliced.findResources("AWS::CloudWatch::Alarm")).map(({ Properties }) => Properties);
    assert.ok(alarms.some(({ AlarmDescription }) => AlarmDescription.startsWith("Slices of a compile have failed")));
    template.resourceCountIs("AWS::SQS::Queue", 2);
  });

  it("allows no action on everything", () => {
    const text = JSON.stringify(template.findResources("AWS::IAM::Policy"));
    assert.doesNotMatch(text, /"(?:s3|sqs|lambda|secretsmanager|kms):\*"|"Resource":"\*"|"Action":"\*"/);
  });

  it("compiles one at a time, on a schedule and from a queue, whatever comes in from outside", () => {
    const functions = Object.entries(template.findResources("AWS::Lambda::Function"));
    const roomOf = (name) => functions.find(([id]) => id.startsWith(name))?.[1].Properties.ReservedConcurrentExecutions;
    assert.equal(roomOf("Compile"), 1);
    assert.equal(roomOf("Hooks"), 2);
    const urls = Object.values(template.findResources("AWS::Lambda::Url"));
    const behind = urls.map(({ Properties }) =>
      Properties.TargetFunctionArn["Fn::GetAtt"][0].replace(/[0-9A-F]{8}$/, ""),
    );
    assert.deepEqual(behind.sort(), ["Front", "Hooks"]);
    template.hasResourceProperties("AWS::Events::Rule", {
      ScheduleExpression: "rate(10 minutes)",
      Targets: [Match.objectLike({ Arn: { "Fn::GetAtt": [Match.stringLikeRegexp("^Compile"), "Arn"] } })],
    });
    template.resourceCountIs("AWS::Lambda::EventSourceMapping", 1);
    template.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
      FunctionName: { Ref: Match.stringLikeRegexp("^Compile") },
    });
  });

  it("reserves no executions where an account has none to reserve", () => {
    const bare = synthesise({ reservedConcurrency: false });
    const functions = Object.values(bare.findResources("AWS::Lambda::Function"));
    assert.equal(functions.length, 4);
    assert.ok(functions.every(({ Properties }) => Properties.ReservedConcurrentExecutions === undefined));
  });

  it("compiles the sources that it is told", () => {
    const told = synthesise({ sources: "main,kubernetes" });
    for (const name of ["Compile", "Hooks"])
      assert.equal(environmentOf(told, name).PORTOLAN_SOURCES, "main,kubernetes");
  });

  it("tells the compile function through the queue when a source was written, and of nothing else", () => {
    template.hasResourceProperties("AWS::S3::Bucket", {
      NotificationConfiguration: { EventBridgeConfiguration: { EventBridgeEnabled: true } },
    });
    template.hasResourceProperties("AWS::Events::Rule", {
      EventPattern: {
        source: ["aws.s3"],
        "detail-type": ["Object Created"],
        detail: {
          bucket: { name: [{ Ref: Match.stringLikeRegexp("^Snapshots") }] },
          object: { key: [{ wildcard: "sources/*/list" }, { wildcard: "sources/*/head" }, { prefix: "wanted/" }] },
        },
      },
      Targets: [Match.objectLike({ Arn: { "Fn::GetAtt": [Match.stringLikeRegexp("^Recompile"), "Arn"] } })],
    });
    template.hasResourceProperties("AWS::SQS::QueuePolicy", {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Effect: "Allow",
            Principal: { Service: "events.amazonaws.com" },
            Condition: { ArnEquals: { "aws:SourceArn": Match.anyValue() } },
          }),
        ]),
      },
    });
    template.resourceCountIs("AWS::Lambda::Function", 4);
  });

  it("says when compiles fail or stand still, when requests are turned away or lost, and to whom", () => {
    const alarms = Object.values(template.findResources("AWS::CloudWatch::Alarm")).map(({ Properties }) => Properties);
    const metrics = alarms.map(({ MetricName }) => MetricName).sort();
    assert.deepEqual(metrics, [
      "ApproximateNumberOfMessagesVisible",
      "Duration",
      "Errors",
      "Errors",
      "Invocations",
      "Throttles",
      "Throttles",
      "Url4xxCount",
      "Url4xxCount",
      "Url5xxCount",
    ]);
    for (const { AlarmActions, AlarmDescription } of alarms) {
      assert.equal(AlarmActions.length, 1);
      assert.ok(AlarmDescription.length > 20);
    }
    const still = alarms.find(({ MetricName }) => MetricName === "Invocations");
    assert.equal(still.TreatMissingData, "breaching");
  });

  it("tells each function what it needs, and no other its secrets", () => {
    const told = synthesise({
      compileSettings: { PORTOLAN_LEGACY_API: "true" },
      frontSettings: { PORTOLAN_AUTHENTICATION: "off" },
    });
    const names = (name) => Object.keys(environmentOf(told, name)).sort();
    assert.deepEqual(names("Front"), ["PORTOLAN_AUTHENTICATION", "PORTOLAN_BUCKET"]);
    assert.deepEqual(names("Compile"), ["PORTOLAN_BUCKET", "PORTOLAN_LEGACY_API", "PORTOLAN_SOURCES"]);
    assert.deepEqual(names("Hooks"), [...names("Compile"), "PORTOLAN_WEBHOOK_SECRET"].sort());
    assert.equal(environmentOf(told, "Compile").PORTOLAN_SOURCES, "main");
  });

  it("holds the secret by reference only", () => {
    const text = JSON.stringify(template.toJSON());
    assert.match(text, /resolve:secretsmanager/);
  });
});
