// Portolan on AWS. Snapshots lie in one bucket; the front reads them behind a function URL; the compile function is woken by its
// own signed URL, a queue and a schedule, and is the only one that may write.

import { CfnOutput, Duration, RemovalPolicy, SecretValue, Stack } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { Architecture, Code, FunctionUrlAuthType, Function as Lambda, Runtime } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { BlockPublicAccess, Bucket, BucketEncryption } from "aws-cdk-lib/aws-s3";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";

export class PortolanStack extends Stack {
  /**
   * @param {import("constructs").Construct} scope
   * @param {string} id
   * @param {{ code: { front: string, compile: string }, sources?: string, compileSettings?: Record<string, string> }} props
   *   folders of the built functions, and what the compile function is told besides: `PORTOLAN_LEGACY_API` and its like
   */
  constructor(scope, id, props) {
    super(scope, id);

    const bucket = new Bucket(this, "Snapshots", {
      encryption: BucketEncryption.S3_MANAGED,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      versioned: true,
      removalPolicy: RemovalPolicy.RETAIN,
      // Versions are a safety net below Portolan's own history; old ones and half uploads go after a month.
      lifecycleRules: [
        { noncurrentVersionExpiration: Duration.days(30), abortIncompleteMultipartUploadAfter: Duration.days(1) },
        // Keys of webhook deliveries: replays are refused by their timestamp long before.
        { prefix: "hooks/", expiration: Duration.days(7) },
      ],
    });

    const secret = new Secret(this, "RecompileSecret", {
      description: "Shared with whoever may ask Portolan to compile",
      generateSecretString: { passwordLength: 48, excludePunctuation: true },
    });

    const common = { runtime: Runtime.NODEJS_22_X, architecture: Architecture.ARM_64 };
    const logsOf = (/** @type {string} */ name) =>
      new LogGroup(this, `${name}Logs`, { retention: RetentionDays.ONE_MONTH, removalPolicy: RemovalPolicy.DESTROY });
    const front = new Lambda(this, "Front", {
      ...common,
      logGroup: logsOf("Front"),
      code: Code.fromAsset(props.code.front),
      handler: "index.handler",
      memorySize: 512,
      timeout: Duration.seconds(10),
      environment: { PORTOLAN_BUCKET: bucket.bucketName },
    });
    bucket.grantRead(front);

    const compile = new Lambda(this, "Compile", {
      ...common,
      logGroup: logsOf("Compile"),
      code: Code.fromAsset(props.code.compile),
      handler: "index.handler",
      memorySize: 2048,
      timeout: Duration.minutes(5),
      // One at a time: a second one would only lose the race for HEAD.
      reservedConcurrentExecutions: 1,
      environment: {
        ...props.compileSettings,
        PORTOLAN_BUCKET: bucket.bucketName,
        PORTOLAN_SOURCES: props.sources ?? "main",
        PORTOLAN_WEBHOOK_SECRET: SecretValue.secretsManager(secret.secretArn).unsafeUnwrap(),
      },
    });
    bucket.grantReadWrite(compile);

    const deadLetters = new Queue(this, "DeadLetters", { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true });
    const queue = new Queue(this, "Recompile", {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      visibilityTimeout: Duration.minutes(30),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: 5 },
    });
    // A batch of messages is one compile.
    compile.addEventSource(new SqsEventSource(queue, { batchSize: 1000, maxBatchingWindow: Duration.seconds(1) }));
    new Rule(this, "EveryTenMinutes", {
      description: "Compiles what a lost request would have asked for",
      schedule: Schedule.rate(Duration.minutes(10)),
      targets: [new LambdaFunction(compile)],
    });

    // Nodes and webhooks bring their own credentials; both apps check them.
    const frontUrl = front.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
    const compileUrl = compile.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
    new CfnOutput(this, "FrontUrl", { value: frontUrl.url });
    new CfnOutput(this, "CompileUrl", { value: compileUrl.url });
    new CfnOutput(this, "BucketName", { value: bucket.bucketName });
    new CfnOutput(this, "RecompileQueueUrl", { value: queue.queueUrl });
    new CfnOutput(this, "RecompileSecretArn", { value: secret.secretArn });
  }
}
