import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { sourceNameForm } from "../lib/config/setting-values.ts";
import { readModule } from "./compare/module.mjs";
import { ofTemplate } from "./compare/template.mjs";
import { ofModule } from "./compare/terraform.mjs";
import { compileSettings, frontSettings, secretSettings } from "./settings.mjs";
import { PortolanStack } from "./stack.mjs";

const folder = new URL("terraform", import.meta.url).pathname;
const bundles = ["front", "compile", "slice", "garbage"];
const secret = (name) => `arn:aws:secretsmanager:eu-west-1:123456789012:secret:${name}-abcdef`;
const writer = "arn:aws:iam::123456789012:role/certificates";
const named = (names, value = "1") => Object.fromEntries(names.map((name) => [`PORTOLAN_${name}`, value]));

/** The CDK's template of bundles whose content is their name, and a function from a key of the template to that name. */
function synthesise(props = {}) {
  const root = mkdtempSync(join(tmpdir(), "portolan-infra-"));
  for (const name of bundles) {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, "index.mjs"), name);
  }
  const code = Object.fromEntries(bundles.map((name) => [name, join(root, name)]));
  const app = new App({ analyticsReporting: false });
  const template = Template.fromStack(new PortolanStack(app, "Portolan", { code, ...props })).toJSON();
  const bundleOf = (key) => readFileSync(join(app.outdir, `asset.${key.replace(/\.zip$/, "")}`, "index.mjs"), "utf8");
  return { template, bundleOf };
}

/** Variables of the module, from properties of the stack. */
function variablesFor({ sources, reservedConcurrency, garbage, compileSettings, frontSettings, ...rest }) {
  return {
    bundles: "dist/lambda",
    sources: sources?.split(","),
    reserved_concurrency: reservedConcurrency,
    garbage,
    compile_settings: compileSettings,
    front_settings: frontSettings,
    secret_arns: rest.secretArns,
    secrets_writers: rest.secretsWriters,
    ca_key_arn: rest.caKeyArn,
  };
}

const cases = {
  "nothing but defaults": {},
  "two sources": { sources: "main,kubernetes" },
  "no reserved executions": { reservedConcurrency: false },
  "no garbage collection": { garbage: false },
  "a compile in slices": { compileSettings: { PORTOLAN_COMPILE_SLICES: "8" } },
  "one slice, which needs no queue": { compileSettings: { PORTOLAN_COMPILE_SLICES: "1" } },
  "every setting": {
    compileSettings: { ...named(compileSettings, "2"), OTEL_SERVICE_NAME: "mesh" },
    frontSettings: { ...named(frontSettings), PORTOLAN_STORE_COPY: "s3://west" },
  },
  "every secret": { secretArns: Object.fromEntries(secretSettings.map((name) => [`PORTOLAN_${name}`, secret(name)])) },
  "a key of KMS's": { secretsWriters: [writer, `${writer}-2`] },
  "a key of KMS's and the one before it": {
    secretsWriters: [writer],
    secretArns: { PORTOLAN_SECRETS_KEY: secret("old") },
  },
  "a copy in another region": { frontSettings: { PORTOLAN_STORE_COPY: "s3://west/prod/?region=eu-west-1" } },
  "a copy, with secrets": {
    frontSettings: { PORTOLAN_STORE_COPY: "s3://west/a/b?region=eu-west-1" },
    secretArns: { PORTOLAN_SECRETS_KEY: secret("key") },
  },
  "a key of KMS's for the CA": { caKeyArn: "arn:aws:kms:eu-west-1:123456789012:key/1" },
  "a certificate authority": {
    frontSettings: { PORTOLAN_CA: "on", PORTOLAN_CA_MAX_HOURS: "12" },
    secretArns: { PORTOLAN_SECRETS_KEY: secret("key") },
  },
  "webhooks for API servers": {
    compileSettings: { PORTOLAN_ADMISSION_WORKLOADS: "refuse", PORTOLAN_ADMISSION_INJECTION: "{}" },
    secretArns: { PORTOLAN_ADMISSION_TOKEN: secret("token") },
  },
  "records of unmatched nodes": { frontSettings: { PORTOLAN_WANTED: "true" } },
  "records of confirmations": { frontSettings: { PORTOLAN_CONFIRMATIONS: "store" } },
};

describe("the Terraform module", () => {
  let module;
  before(async () => {
    module = await readModule(folder);
  });

  for (const [name, props] of Object.entries(cases))
    it(`deploys the same as the CDK's stack, with ${name}`, () => {
      const { template, bundleOf } = synthesise(props);
      assert.deepEqual(ofModule(module, variablesFor(props)), ofTemplate(template, bundleOf));
    });

  it("accepts the settings that the stack hands over, and refuses others", () => {
    const refusals = (variables) => {
      try {
        ofModule(module, { bundles: "dist/lambda", ...variables });
        return "";
      } catch (error) {
        return error.message;
      }
    };
    for (const [variables, message] of [
      [{ name: "Portolan" }, /^name must be/],
      [{ sources: [] }, /^sources must be/],
      [{ sources: ["main", "main"] }, /^sources must be/],
      [{ sources: ["a/b"] }, /^sources must be/],
      [{ compile_settings: { PORTOLAN_AUTHENTICATION: "off" } }, /^compile_settings has a name/],
      [{ compile_settings: { PORTOLAN_COMPILE_SLICES: "many" } }, /PORTOLAN_COMPILE_SLICES .* must be a number/],
      [{ front_settings: { PORTOLAN_LEGACY_API: "true" } }, /^front_settings has a name/],
      [{ front_settings: { PORTOLAN_STORE_COPY: "west" } }, /PORTOLAN_STORE_COPY .* must name a bucket/],
      [{ secret_arns: { PORTOLAN_WANTED: secret("x") } }, /^secret_arns has a name/],
      [{ secrets_writers: ["certificates"] }, /^secrets_writers must be ARNs/],
      [{ ca_key_arn: "alias/ca" }, /^ca_key_arn must be the ARN/],
    ])
      assert.match(refusals(variables), message);
    // The functions check the same rule.
    assert.equal(refusals({ sources: ["main", "git.example-1"] }), "");
    assert.ok(readFileSync(join(folder, "variables.tf"), "utf8").includes(`"${sourceNameForm.source}"`));
  });

  it("is formatted as `fmt` of OpenTofu and Terraform does", (context) => {
    // Without the variable, Terraform asks for news of itself.
    const env = { ...process.env, CHECKPOINT_DISABLE: "1" };
    const arguments_ = ["fmt", "-check", "-diff", folder];
    const run = ["tofu", "terraform"]
      .map((program) => spawnSync(program, arguments_, { encoding: "utf8", env }))
      .find(({ error }) => error === undefined);
    if (run === undefined) return context.skip("neither tofu nor terraform is installed");
    assert.deepEqual([run.status, run.stdout], [0, ""]);
  });
});

describe("the comparison", () => {
  const props = {
    compileSettings: { PORTOLAN_COMPILE_SLICES: "8" },
    secretsWriters: [writer],
    secretArns: { PORTOLAN_SIGNING_KEY: secret("sign") },
  };
  const { template, bundleOf } = synthesise(props);
  const variables = variablesFor(props);
  const stack = ofTemplate(template, bundleOf);

  /** Whether a change is detected: other properties, or an error. */
  function differs(read, known) {
    try {
      assert.deepEqual(read(), known);
      return false;
    } catch {
      return true;
    }
  }

  it("detects every changed value and every removed resource of the template", () => {
    /** Names that nothing else depends on, and what the CDK adds for itself. */
    const names = /\.(?:PolicyName|Sid|Targets\.\d+\.Id)$|\.Code\.S3Bucket|\.DependsOn|\.UpdateReplacePolicy/;
    const missed = [];
    let tried = 0;
    const changeAll = (owner, path) => {
      for (const name of Object.keys(owner)) {
        const [value, place] = [owner[name], `${path}.${name}`];
        if (typeof value === "object" && value !== null) changeAll(value, place);
        else if (!names.test(place)) {
          tried++;
          owner[name] = typeof value === "string" ? `${value}x` : typeof value === "number" ? value + 1 : !value;
          if (!differs(() => ofTemplate(template, bundleOf), stack)) missed.push(place);
          owner[name] = value;
        }
      }
    };
    changeAll(template.Resources, "");
    for (const [id, resource] of Object.entries(template.Resources)) {
      delete template.Resources[id];
      if (!differs(() => ofTemplate(template, bundleOf), stack)) missed.push(id);
      template.Resources[id] = resource;
    }
    assert.deepEqual(missed, []);
    assert.ok(tried > 500, `${tried} values`);
  });

  /** Reads the module with `to` in the place of the first `from` of each file. */
  async function readEdited(from, to) {
    let edited = 0;
    const module = await readModule(folder, (text) => {
      if (text.includes(from)) edited++;
      return text.replace(from, to);
    });
    assert.ok(edited > 0, `the module does not have ${from}`);
    return module;
  }

  for (const [what, from, to] of [
    ["key of the bucket", '["GetObject"], keys = ["registered/*", "wanted/*"]', '["GetObject"], keys = ["secrets/*"]'],
    ["right to list", "local.list,\n      [{", "[{"],
    ["right to delete", '["DeleteObject"], keys = local.collected_keys', '["DeleteObject"], keys = ["*"]'],
    ["right to a key of KMS's", '"kms:Decrypt"', '"kms:*"'],
    ["effect", 'Effect    = "Deny"', 'Effect    = "Allow"'],
    ["condition", '"aws:SourceArn" = aws_cloudwatch_event_rule.source_written.arn', '"aws:SourceArn" = "*"'],
    ["end of the bucket", "prevent_destroy = true", "prevent_destroy = false"],
    ["memory", "memory   = 2048", "memory   = 1024"],
    ["timeout", "timeout  = 900", "timeout  = 600"],
    ["reservation", "reserved = 2", "reserved = 3"],
    ["handler", '"index.handler"', '"main.handler"'],
    ["runtime", "nodejs22.x", "nodejs24.x"],
    ["bundle", 'code     = "garbage"', 'code     = "compile"'],
    ["setting", "local.signing,", "{},"],
    ["schedule", "cron(17 3 * * ? *)", "cron(17 4 * * ? *)"],
    ["count of tries", "maxReceiveCount = 5", "maxReceiveCount = 4"],
    ["size of a batch", "= 1000", "= 10"],
    ["pattern of events", '"sources/*/head"', '"sources/*"'],
    ["threshold", "threshold   = 240000", "threshold   = 24000"],
    ["topic", "= [aws_sns_topic.alarms.arn]", "= []"],
    ["time of old versions", "noncurrent_days = 30", "noncurrent_days = 3"],
    ["mode of a URL", '"RESPONSE_STREAM"', '"BUFFERED"'],
    ["notification", "eventbridge = true", "eventbridge = false"],
    ["output", "value       = aws_sqs_queue.recompile.url", "value       = aws_sqs_queue.recompile.arn"],
  ])
    it(`detects another ${what} in the module`, async () => {
      assert.notDeepEqual(ofModule(await readEdited(from, to), variables), stack);
    });

  for (const [what, from, to] of [
    ["an argument that is not compared", "  batch_size ", "  enabled = false\n  batch_size "],
    ["a resource that is not compared", 'resource "aws_sns_topic_policy"', 'resource "aws_sns_topic_subscription"'],
    ["a hash of another bundle than its own", "output_base64sha256", "output_md5"],
  ])
    it(`refuses ${what} in the module`, async () => {
      const edited = await readEdited(from, to);
      assert.throws(() => ofModule(edited, variables), /is not compared|another bundle/);
    });
});
