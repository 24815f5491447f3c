// Reads the Terraform module as a deployment.

import { basename } from "node:path";
import { add, fail, linesOf, namedIn, pascal, symbolOf } from "./deployment.mjs";
import { evaluateModule } from "./module.mjs";

/** The kind in a deployment, by Terraform's type. @type {Record<string, string>} */
const kinds = {
  aws_cloudwatch_event_rule: "Rule",
  aws_cloudwatch_log_group: "LogGroup",
  aws_cloudwatch_metric_alarm: "Alarm",
  aws_iam_role: "Role",
  aws_kms_key: "Key",
  aws_lambda_function: "Function",
  aws_lambda_function_url: "Url",
  aws_s3_bucket: "Bucket",
  aws_secretsmanager_secret: "Secret",
  aws_sns_topic: "Topic",
  aws_sqs_queue: "Queue",
  random_password: "Password",
};

/** Attributes with another name in a deployment. @type {Record<string, string>} */
const attributes = { function_name: "name", function_url: "url" };

/**
 * @param {import("./module.mjs").Instance} instance
 * @param {string} attribute
 * @returns {string}
 */
function symbol(instance, attribute) {
  const { type, name, body } = instance;
  if (type === "data.aws_partition") return "<partition>";
  if (type === "data.aws_caller_identity") return "<account>";
  if (type === "data.aws_secretsmanager_secret_version") return `<secret ${body().secret_id}>`;
  if (type === "data.archive_file")
    return attribute === "output_path" ? basename(body().source_dir) : `${attribute} of ${basename(body().source_dir)}`;
  const kind = kinds[type] ?? fail(`${type} is referred to, which is not compared`);
  // A secret's `id` is its ARN.
  return symbolOf(kind, pascal(name), kind === "Secret" ? "arn" : (attributes[attribute] ?? attribute));
}

/**
 * Arguments by their names in CloudFormation. An argument without one throws.
 *
 * @param {any} body
 * @param {Record<string, string | ((value: any) => any) | null>} names by Terraform's name CloudFormation's, or a function that gives
 *   properties, or `null` for what is left out
 */
function renamed(body, names) {
  /** @type {Record<string, any>} */
  const made = {};
  for (const [argument, value] of Object.entries(body)) {
    const to = names[argument];
    if (to === undefined) fail(`the argument ${argument} is not compared`);
    else if (typeof to === "string") made[to] = value;
    else if (to !== null) Object.assign(made, to(value));
  }
  return made;
}

const json = (/** @type {string} */ name) => (/** @type {string} */ text) => ({ [name]: JSON.parse(text) });
const policy = (/** @type {string} */ text) => ({ Policy: linesOf(JSON.parse(text)) });
const block =
  (/** @type {string} */ name, /** @type {Parameters<typeof renamed>[1]} */ names) =>
  (/** @type {any[]} */ [body]) => ({ [name]: renamed(body, names) });

/** What a resource belongs to, by the argument that names it. */
const of = (/** @type {string} */ kind, /** @type {string} */ argument) => (/** @type {any} */ body) =>
  `${kind} ${namedIn(body[argument])}`;

/**
 * How each type of Terraform's is read: `names` of its arguments, and with `of` the resource of the deployment that they are added to, its
 * own when absent; or a function that gives both.
 *
 * @type {Record<string, { of?: (body: any) => string, names: Parameters<typeof renamed>[1] } | ((body: any) => [string, any])>}
 */
const types = {
  aws_s3_bucket: { names: { bucket_prefix: null } },
  aws_s3_bucket_public_access_block: (body) => [
    of("Bucket", "bucket")(body),
    {
      PublicAccessBlockConfiguration: renamed(body, {
        bucket: null,
        block_public_acls: "BlockPublicAcls",
        block_public_policy: "BlockPublicPolicy",
        ignore_public_acls: "IgnorePublicAcls",
        restrict_public_buckets: "RestrictPublicBuckets",
      }),
    },
  ],
  aws_s3_bucket_server_side_encryption_configuration: {
    of: of("Bucket", "bucket"),
    names: {
      bucket: null,
      rule: (rules) => ({
        BucketEncryption: {
          ServerSideEncryptionConfiguration: rules.map((/** @type {any} */ rule) =>
            renamed(rule, {
              apply_server_side_encryption_by_default: block("ServerSideEncryptionByDefault", {
                sse_algorithm: "SSEAlgorithm",
              }),
            }),
          ),
        },
      }),
    },
  },
  aws_s3_bucket_versioning: {
    of: of("Bucket", "bucket"),
    names: { bucket: null, versioning_configuration: block("VersioningConfiguration", { status: "Status" }) },
  },
  aws_s3_bucket_lifecycle_configuration: {
    of: of("Bucket", "bucket"),
    names: {
      bucket: null,
      rule: (rules) => ({
        LifecycleConfiguration: {
          Rules: rules.map((/** @type {any} */ rule) =>
            renamed(rule, {
              id: null,
              status: "Status",
              filter: ([filter]) => renamed(filter, { prefix: "Prefix" }),
              expiration: ([ends]) =>
                renamed(ends, { days: "ExpirationInDays", expired_object_delete_marker: "ExpiredObjectDeleteMarker" }),
              noncurrent_version_expiration: block("NoncurrentVersionExpiration", {
                noncurrent_days: "NoncurrentDays",
              }),
              abort_incomplete_multipart_upload: block("AbortIncompleteMultipartUpload", {
                days_after_initiation: "DaysAfterInitiation",
              }),
            }),
          ),
        },
      }),
    },
  },
  aws_s3_bucket_policy: { of: of("Bucket", "bucket"), names: { bucket: null, policy } },
  aws_s3_bucket_notification: {
    of: of("Bucket", "bucket"),
    names: {
      bucket: null,
      eventbridge: (on) => ({
        NotificationConfiguration: { EventBridgeConfiguration: { EventBridgeEnabled: on } },
      }),
    },
  },
  aws_iam_role: {
    names: { name_prefix: null, assume_role_policy: (text) => ({ Trust: linesOf(JSON.parse(text)) }) },
  },
  aws_iam_role_policy_attachment: {
    of: of("Role", "role"),
    names: { role: null, policy_arn: (arn) => ({ ManagedPolicyArns: [arn] }) },
  },
  aws_iam_role_policy: { of: of("Role", "role"), names: { name: null, role: null, policy } },
  aws_cloudwatch_log_group: { names: { name_prefix: null, retention_in_days: "RetentionInDays" } },
  aws_lambda_function: {
    names: {
      function_name: null,
      role: "Role",
      runtime: "Runtime",
      architectures: "Architectures",
      handler: "Handler",
      filename: "Code",
      source_code_hash: "CodeHash",
      memory_size: "MemorySize",
      timeout: "Timeout",
      reserved_concurrent_executions: (count) => ({ ReservedConcurrentExecutions: count === -1 ? undefined : count }),
      environment: block("Environment", { variables: (all) => all }),
      logging_config: block("LoggingConfig", {
        log_group: "LogGroup",
        log_format: "LogFormat",
        application_log_level: "ApplicationLogLevel",
        system_log_level: "SystemLogLevel",
      }),
    },
  },
  aws_lambda_function_url: {
    names: {
      function_name: (name) => ({ Function: namedIn(name) }),
      authorization_type: "AuthType",
      invoke_mode: "InvokeMode",
    },
  },
  aws_lambda_permission: (body) => [
    of("Function", "function_name")(body),
    {
      Permissions: [
        renamed(body, {
          function_name: null,
          statement_id: null,
          action: "Action",
          principal: "Principal",
          function_url_auth_type: "FunctionUrlAuthType",
          invoked_via_function_url: "InvokedViaFunctionUrl",
          source_arn: "SourceArn",
        }),
      ],
    },
  ],
  aws_lambda_event_source_mapping: {
    of: of("EventSource", "event_source_arn"),
    names: {
      event_source_arn: null,
      function_name: (name) => ({ FunctionName: namedIn(name) }),
      batch_size: "BatchSize",
      maximum_batching_window_in_seconds: "MaximumBatchingWindowInSeconds",
      function_response_types: "FunctionResponseTypes",
      scaling_config: block("ScalingConfig", { maximum_concurrency: "MaximumConcurrency" }),
    },
  },
  aws_sqs_queue: {
    names: {
      name_prefix: null,
      sqs_managed_sse_enabled: "SqsManagedSseEnabled",
      visibility_timeout_seconds: "VisibilityTimeout",
      message_retention_seconds: "MessageRetentionPeriod",
      redrive_policy: json("RedrivePolicy"),
    },
  },
  aws_sqs_queue_policy: { of: of("Queue", "queue_url"), names: { queue_url: null, policy } },
  aws_cloudwatch_event_rule: {
    names: {
      name_prefix: null,
      description: "Description",
      schedule_expression: "ScheduleExpression",
      event_pattern: json("EventPattern"),
    },
  },
  aws_cloudwatch_event_target: {
    of: of("Rule", "rule"),
    names: { rule: null, arn: (arn) => ({ Targets: [arn] }) },
  },
  aws_sns_topic: { names: { name_prefix: null } },
  aws_sns_topic_policy: { of: of("Topic", "arn"), names: { arn: null, policy } },
  aws_cloudwatch_metric_alarm: {
    names: {
      alarm_name: null,
      alarm_description: "AlarmDescription",
      alarm_actions: "AlarmActions",
      namespace: "Namespace",
      metric_name: "MetricName",
      statistic: "Statistic",
      period: "Period",
      evaluation_periods: "EvaluationPeriods",
      threshold: "Threshold",
      comparison_operator: "ComparisonOperator",
      treat_missing_data: "TreatMissingData",
      dimensions: "Dimensions",
    },
  },
  aws_secretsmanager_secret: { names: { name_prefix: null, description: "Description" } },
  aws_secretsmanager_secret_version: {
    of: of("Secret", "secret_id"),
    names: { secret_id: null, secret_string: "GenerateSecretString" },
  },
  aws_kms_key: {
    names: { description: "Description", enable_key_rotation: "EnableKeyRotation", policy },
  },
};

/**
 * @param {import("./module.mjs").Module} module
 * @param {Record<string, unknown>} variables
 * @returns {import("./deployment.mjs").Deployment}
 */
export function ofModule(module, variables) {
  const { resources, outputs } = evaluateModule(module, variables, symbol);
  /** @type {import("./deployment.mjs").Deployment} */
  const deployment = {};
  /** What a password is made of, by its symbol. @type {Record<string, any>} */
  const passwords = {};
  for (const { type, name, retained, body, attribute } of resources) {
    const read = types[type];
    if (type === "random_password")
      passwords[attribute("result")] = renamed(body(), {
        length: "PasswordLength",
        special: (on) => ({ ExcludePunctuation: !on }),
      });
    else if (read === undefined) fail(`${type} is not compared`);
    else if (typeof read === "function") add(deployment, ...read(body()));
    else {
      const { of: owner, names } = read;
      const properties = { ...renamed(body(), names), Retained: retained ? true : undefined };
      add(deployment, owner === undefined ? `${kinds[type]} ${pascal(name)}` : owner(body()), properties);
    }
  }
  for (const [key, properties] of Object.entries(deployment)) {
    if (key.startsWith("Rule ")) properties.State = "ENABLED";
    if (key.startsWith("Secret ")) properties.GenerateSecretString = passwords[properties.GenerateSecretString];
    if (!key.startsWith("Function ")) continue;
    const { Code: code, CodeHash: hash, ...others } = properties;
    if (hash !== `output_base64sha256 of ${code}`) fail(`${key} is updated by another bundle than its own: ${hash}`);
    deployment[key] = { ...others, Code: code };
  }
  const shown = Object.entries(outputs).filter(([, value]) => value !== null);
  return { ...deployment, Outputs: Object.fromEntries(shown.map(([name, value]) => [pascal(name), value])) };
}
