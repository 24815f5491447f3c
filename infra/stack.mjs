// Portolan on AWS. Snapshots lie in one bucket; the front reads them behind a function URL; the compile function is woken by a
// queue, into which the bucket says what was written to sources, and by a schedule. Requests from outside come to a function of their own, which has the same code and other room: however
// many of them nobody has signed, the queue and the schedule compile.

import { CfnOutput, Duration, RemovalPolicy, SecretValue, Stack } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction, SqsQueue } from "aws-cdk-lib/aws-events-targets";
import { Key } from "aws-cdk-lib/aws-kms";
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  FunctionUrlAuthType,
  InvokeMode,
  Function as Lambda,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
} from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { BlockPublicAccess, Bucket, BucketEncryption, CfnBucket } from "aws-cdk-lib/aws-s3";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import {
  caKeyAccess,
  compileAccess,
  copyAccess,
  frontAccess,
  garbageAccess,
  onlyComparedAndSwapped,
  secretsKeyPolicy,
  sliceAccess,
} from "./access.mjs";
import { addAlarms } from "./alarms.mjs";

/** Requests from outside that are answered at a time. */
const hooksAtATime = 2;

/** Slices that are compiled at a time, and how long one may take. */
const slicesAtATime = 20;
const sliceSeconds = 80;

/** What S3 lets go of by itself. What is published goes when garbage is collected, which knows what names it: no rule ends a current version of it. */
const lifecycleRules = [
  {
    // Versions are a safety net below Portolan's own history: what was replaced, or collected by mistake, is there for a month.
    noncurrentVersionExpiration: Duration.days(30),
    abortIncompleteMultipartUploadAfter: Duration.days(1),
    // What is collected leaves a marker behind, which lists would go over for ever.
    expiredObjectDeleteMarker: true,
  },
  // Names of deliveries. A replay is refused by its time long before; a forge's after three days.
  { prefix: "hooks/", expiration: Duration.days(7) },
];

export class PortolanStack extends Stack {
  /**
   * @param {import("constructs").Construct} scope
   * @param {string} id
   * @param {{ code: { front: string, compile: string, slice: string, garbage: string }, garbage?: boolean, sources?: string,
   *   reservedConcurrency?: boolean, compileSettings?: Record<string, string>, frontSettings?: Record<string, string>,
   *   secretArns?: Record<string, string>, secretsWriters?: readonly string[], caKeyArn?: string }} props
   *   folders of the built functions; whether garbage is collected, true when absent; the sources, `main` when absent; whether the
   *   compile functions have room of their own, true when absent; what the functions are told besides (`PORTOLAN_LEGACY_API`, `PORTOLAN_AUTHENTICATION` and their
   *   like); by the name of a setting the ARN of the secret in Secrets Manager that holds it; the ARNs of those who write secrets,
   *   for whom a key is made with KMS; and the ARN of the key that KMS keeps for the CA
   */
  constructor(scope, id, props) {
    super(scope, id);
    const { secretArns = {}, secretsWriters = [], garbage: collects = true, reservedConcurrency = true } = props;

    const bucket = new Bucket(this, "Snapshots", {
      encryption: BucketEncryption.S3_MANAGED,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      versioned: true,
      removalPolicy: RemovalPolicy.RETAIN,
      lifecycleRules,
    });
    bucket.addToResourcePolicy(onlyComparedAndSwapped(bucket));

    const webhookSecret = new Secret(this, "RecompileSecret", {
      description: "Shared with whoever may ask Portolan to compile",
      generateSecretString: { passwordLength: 48, excludePunctuation: true },
    });
    /** @param {readonly string[]} names */
    const secretSettings = (names) =>
      Object.fromEntries(
        names
          .filter((name) => secretArns[name] !== undefined)
          .map((name) => [name, SecretValue.secretsManager(secretArns[name] ?? "").unsafeUnwrap()]),
      );

    const common = {
      runtime: Runtime.NODEJS_22_X,
      architecture: Architecture.ARM_64,
      handler: "index.handler",
      // Lambda's own three lines for each invocation would cost half as much as the polls; what fails it still logs (docs/cost.md).
      loggingFormat: LoggingFormat.JSON,
      systemLogLevelV2: SystemLogLevel.WARN,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
    };
    const logsOf = (/** @type {string} */ name) =>
      new LogGroup(this, `${name}Logs`, { retention: RetentionDays.ONE_MONTH, removalPolicy: RemovalPolicy.DESTROY });
    const front = new Lambda(this, "Front", {
      ...common,
      logGroup: logsOf("Front"),
      code: Code.fromAsset(props.code.front),
      memorySize: 512,
      // Beyond 6 MB an answer flows with 2 MB a second; the store is given up after seconds whatever stands here.
      timeout: Duration.seconds(60),
      environment: {
        ...props.frontSettings,
        ...secretSettings(["PORTOLAN_AUTHENTICATION"]),
        PORTOLAN_BUCKET: bucket.bucketName,
      },
    });
    const secretsKeys = Object.values(secretSettings(["PORTOLAN_SECRETS_KEY"]));
    if (secretsWriters.length > 0) {
      const key = new Key(this, "SecretsKey", {
        description: "Wraps the keys of the secrets that Portolan serves",
        policy: secretsKeyPolicy(front, secretsWriters),
        enableKeyRotation: true,
        removalPolicy: RemovalPolicy.RETAIN,
      });
      // The first wraps; what another key has wrapped is opened until `portolan secret rewrap`.
      secretsKeys.unshift(`aws-kms:${key.keyArn}`);
      new CfnOutput(this, "SecretsKeySetting", { value: `aws-kms:${key.keyArn}` });
    }
    const servesSecrets = secretsKeys.length > 0;
    const confirmations = props.frontSettings?.PORTOLAN_CONFIRMATIONS === "store";
    const wanted = props.frontSettings?.PORTOLAN_WANTED === "true";
    if (servesSecrets) front.addEnvironment("PORTOLAN_SECRETS_KEY", secretsKeys.join(" "));
    for (const statement of frontAccess(bucket, { secrets: servesSecrets, wanted, confirmations }))
      front.addToRolePolicy(statement);
    const { PORTOLAN_STORE_COPY: copy } = props.frontSettings ?? {};
    if (copy !== undefined) front.addToRolePolicy(copyAccess(copy, { secrets: servesSecrets }));
    if (props.caKeyArn !== undefined) front.addToRolePolicy(caKeyAccess(props.caKeyArn));

    /**
     * @param {string} name
     * @param {number} atATime
     * @param {Record<string, string>} settings
     */
    const compiler = (name, atATime, settings) => {
      const made = new Lambda(this, name, {
        ...common,
        logGroup: logsOf(name),
        code: Code.fromAsset(props.code.compile),
        memorySize: 2048,
        timeout: Duration.minutes(5),
        // An account with a limit of 10 has none to reserve: what compiles one at a time there is the lease in the bucket.
        ...(reservedConcurrency ? { reservedConcurrentExecutions: atATime } : {}),
        environment: {
          ...props.compileSettings,
          ...secretSettings(["PORTOLAN_SIGNING_KEY"]),
          ...settings,
          PORTOLAN_BUCKET: bucket.bucketName,
          PORTOLAN_SOURCES: props.sources ?? "main",
        },
      });
      for (const statement of compileAccess(bucket)) made.addToRolePolicy(statement);
      return made;
    };
    // One at a time: a second one would only lose the race for HEAD. It has no address, and so no secret to check.
    const compile = compiler("Compile", 1, {});
    const hooks = compiler("Hooks", hooksAtATime, {
      PORTOLAN_WEBHOOK_SECRET: SecretValue.secretsManager(webhookSecret.secretArn).unsafeUnwrap(),
      ...secretSettings([
        "PORTOLAN_SOURCE_SECRETS",
        "PORTOLAN_GITHUB_SECRETS",
        "PORTOLAN_GITLAB_SECRETS",
        "PORTOLAN_REPOSITORY_TOKENS",
        "PORTOLAN_ADMISSION_TOKEN",
      ]),
    });

    const deadLetters = new Queue(this, "DeadLetters", { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true });
    const queue = new Queue(this, "Recompile", {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      visibilityTimeout: Duration.minutes(30),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: 5 },
    });
    tellOfSources(bucket, queue);
    // A batch of messages is one compile.
    compile.addEventSource(new SqsEventSource(queue, { batchSize: 1000, maxBatchingWindow: Duration.seconds(1) }));
    new Rule(this, "EveryTenMinutes", {
      description: "Compiles what a lost request would have asked for",
      schedule: Schedule.rate(Duration.minutes(10)),
      targets: [new LambdaFunction(compile)],
    });
    /** Slices go from whoever compiles to a function of their own, with room for one each. */
    const addSlices = () => {
      const dead = new Queue(this, "SliceDeadLetters", { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true });
      const slices = new Queue(this, "Slices", {
        encryption: QueueEncryption.SQS_MANAGED,
        enforceSSL: true,
        // Longer than the function may take, and shorter than a second try is waited for.
        visibilityTimeout: Duration.seconds(sliceSeconds + 10),
        // Nobody waits for older ones.
        retentionPeriod: Duration.hours(1),
        deadLetterQueue: { queue: dead, maxReceiveCount: 3 },
      });
      const slice = new Lambda(this, "Slice", {
        ...common,
        logGroup: logsOf("Slice"),
        code: Code.fromAsset(props.code.slice),
        memorySize: 1024,
        timeout: Duration.seconds(sliceSeconds),
        environment: { PORTOLAN_BUCKET: bucket.bucketName },
      });
      for (const statement of sliceAccess(bucket)) slice.addToRolePolicy(statement);
      slice.addEventSource(
        new SqsEventSource(slices, { batchSize: 1, maxConcurrency: slicesAtATime, reportBatchItemFailures: true }),
      );
      for (const one of [compile, hooks]) {
        slices.grantSendMessages(one);
        one.addEnvironment("PORTOLAN_SLICE_QUEUE_URL", slices.queueUrl);
      }
      return dead;
    };
    /** By a clock of its own and with a role of its own: nothing else may delete what was published. */
    const addGarbage = () => {
      const { PORTOLAN_TRUSTED_KEYS: trusted, PORTOLAN_GC_KEEP: keep } = props.compileSettings ?? {};
      const made = new Lambda(this, "Garbage", {
        ...common,
        logGroup: logsOf("Garbage"),
        code: Code.fromAsset(props.code.garbage),
        memorySize: 1024,
        timeout: Duration.minutes(15),
        // A second one would only be in the first one's way.
        ...(reservedConcurrency ? { reservedConcurrentExecutions: 1 } : {}),
        environment: {
          // It moves HEAD, so it signs it.
          ...secretSettings(["PORTOLAN_SIGNING_KEY"]),
          ...(trusted === undefined ? {} : { PORTOLAN_TRUSTED_KEYS: trusted }),
          ...(keep === undefined ? {} : { PORTOLAN_GC_KEEP: keep }),
          PORTOLAN_BUCKET: bucket.bucketName,
        },
      });
      for (const statement of garbageAccess(bucket)) made.addToRolePolicy(statement);
      new Rule(this, "EveryDay", {
        description: "Deletes objects that nothing names any more",
        schedule: Schedule.cron({ hour: "3", minute: "17" }),
        targets: [new LambdaFunction(made)],
      });
      return made;
    };
    const garbage = collects ? addGarbage() : undefined;
    const slicesDead = Number(props.compileSettings?.PORTOLAN_COMPILE_SLICES ?? "1") > 1 ? addSlices() : undefined;
    const alarms = addAlarms(this, { front, hooks, compile, deadLetters, slicesDead, garbage });

    // Nodes and webhooks bring their own credentials; both apps check them.
    const frontUrl = front.addFunctionUrl({
      authType: FunctionUrlAuthType.NONE,
      // Answers may be larger than the 6 MB that are buffered; the handler streams and fits no other mode.
      invokeMode: InvokeMode.RESPONSE_STREAM,
    });
    const hooksUrl = hooks.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
    new CfnOutput(this, "FrontUrl", { value: frontUrl.url });
    new CfnOutput(this, "CompileUrl", { value: hooksUrl.url });
    new CfnOutput(this, "BucketName", { value: bucket.bucketName });
    new CfnOutput(this, "RecompileQueueUrl", { value: queue.queueUrl });
    new CfnOutput(this, "RecompileSecretArn", { value: webhookSecret.secretArn });
    new CfnOutput(this, "AlarmsTopicArn", { value: alarms.topicArn });
  }
}

/**
 * Lets the bucket say into the queue that a source was written. S3 itself would do so only with a function of the CDK's that may
 * change every bucket; a rule needs none.
 *
 * @param {Bucket} bucket
 * @param {Queue} queue
 */
function tellOfSources(bucket, queue) {
  const made = bucket.node.defaultChild;
  if (!(made instanceof CfnBucket)) throw new Error("the bucket is none of CloudFormation's");
  made.notificationConfiguration = { eventBridgeConfiguration: { eventBridgeEnabled: true } };
  new Rule(bucket.stack, "SourceWritten", {
    description: "A source of Portolan's was written",
    eventPattern: {
      source: ["aws.s3"],
      detailType: ["Object Created"],
      detail: {
        bucket: { name: [bucket.bucketName] },
        // The names that a source moves with; its parts are written before.
        object: { key: [{ wildcard: "sources/*/list" }, { wildcard: "sources/*/head" }, { prefix: "wanted/" }] },
      },
    },
    targets: [new SqsQueue(queue)],
  });
}
