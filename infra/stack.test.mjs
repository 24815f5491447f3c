import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { App } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { PortolanStack } from "./stack.mjs";

function synthesise(compileSettings = {}) {
  const folder = mkdtempSync(join(tmpdir(), "portolan-infra-"));
  writeFileSync(join(folder, "index.mjs"), "export const handler = () => {};");
  const app = new App({ analyticsReporting: false });
  return Template.fromStack(
    new PortolanStack(app, "Portolan", { code: { front: folder, compile: folder }, compileSettings }),
  );
}

/** Statements of the policies that are attached to a function's role. */
function actionsOf(template, roleMatch) {
  return Object.values(template.findResources("AWS::IAM::Policy"))
    .filter(({ Properties }) => Properties.Roles.some(({ Ref }) => Ref.startsWith(roleMatch)))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
    .flatMap(({ Action }) => Action);
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

  it("lets the front read and nothing else", () => {
    const actions = actionsOf(template, "FrontServiceRole");
    assert.ok(actions.length > 0);
    assert.deepEqual(
      actions.filter((action) => !/^s3:(Get|List)/.test(action)),
      [],
    );
  });

  it("lets the compile function write to the bucket and read its queue, and touch nothing else", () => {
    const services = new Set(actionsOf(template, "CompileServiceRole").map((action) => action.split(":")[0]));
    assert.deepEqual([...services].sort(), ["s3", "sqs"]);
  });

  it("compiles one at a time, on a schedule and from a queue", () => {
    template.hasResourceProperties("AWS::Lambda::Function", { ReservedConcurrentExecutions: 1 });
    template.hasResourceProperties("AWS::Events::Rule", { ScheduleExpression: "rate(10 minutes)" });
    template.resourceCountIs("AWS::Lambda::EventSourceMapping", 1);
    template.resourceCountIs("AWS::Lambda::Url", 2);
  });

  it("tells the compile function, and only it, what to compile", () => {
    const told = synthesise({ PORTOLAN_LEGACY_API: "true" }).findResources("AWS::Lambda::Function");
    const settings = Object.values(told).map(({ Properties }) => Properties.Environment.Variables);
    assert.deepEqual(
      settings
        .filter((variables) => variables.PORTOLAN_LEGACY_API === "true")
        .map((variables) => variables.PORTOLAN_SOURCES),
      ["main"],
    );
  });

  it("holds the secret by reference only", () => {
    const text = JSON.stringify(template.toJSON());
    assert.match(text, /resolve:secretsmanager/);
  });
});
