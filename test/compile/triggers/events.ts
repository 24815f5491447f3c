/** What platforms send, in the form that their documents show; `key` is the object that changed. */

const form = (key: string) => encodeURIComponent(key).replaceAll("%2F", "/").replaceAll("%20", "+");

/** @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html */
export const s3Event = (...keys: readonly string[]) => ({
  Records: keys.map((key) => ({
    eventVersion: "2.1",
    eventSource: "aws:s3",
    awsRegion: "eu-west-1",
    eventTime: "2026-11-22T12:00:00.000Z",
    eventName: "ObjectCreated:Put",
    userIdentity: { principalId: "AWS:AIDAEXAMPLE" },
    requestParameters: { sourceIPAddress: "127.0.0.1" },
    responseElements: { "x-amz-request-id": "C3D13FE58DE4C810", "x-amz-id-2": "FMyUVURIY8/IgAtTv8xRjskZ" },
    s3: {
      s3SchemaVersion: "1.0",
      configurationId: "sources",
      bucket: { name: "portolan", ownerIdentity: { principalId: "A3NL1KOZZKExample" }, arn: "arn:aws:s3:::portolan" },
      object: { key: form(key), size: 1024, eTag: "d41d8cd98f00b204e9800998ecf8427e", sequencer: "0055AED6DCD90281E5" },
    },
  })),
});

/** What S3 sends to a queue when a notification is made. */
export const s3TestEvent = {
  Service: "Amazon S3",
  Event: "s3:TestEvent",
  Time: "2026-11-22T12:00:00.000Z",
  Bucket: "portolan",
  RequestId: "5582815E1AEA5ADF",
  HostId: "8cLeGAmw098X5cv4Zkwcmo8vvZa3eH3eKxsPzbB9wrR+YstdA6Knx4Ip8EXAMPLE",
};

/** @see https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html */
export const sqsEvent = (...bodies: readonly string[]) => ({
  Records: bodies.map((body, i) => ({
    messageId: `059f36b4-87a3-44ab-83d2-66197591d0${String(i).padStart(2, "0")}`,
    receiptHandle: "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a...",
    body,
    attributes: {
      ApproximateReceiveCount: "1",
      SentTimestamp: String(Date.UTC(2026, 10, 22, 12) + i),
      SenderId: "AIDAIENQZJOLO23YVJ4VO",
      ApproximateFirstReceiveTimestamp: String(Date.UTC(2026, 10, 22, 12) + i),
    },
    messageAttributes: {},
    md5OfBody: "e4e68fb7bd0e697a0ae8f1bb342846b3",
    eventSource: "aws:sqs",
    eventSourceARN: "arn:aws:sqs:eu-west-1:123456789012:portolan",
    awsRegion: "eu-west-1",
  })),
});

export const snsMessage = (content: object) => ({
  Type: "Notification",
  MessageId: "dc1e94d9-56c5-5e96-808d-cc7f68faa162",
  TopicArn: "arn:aws:sns:eu-west-1:123456789012:portolan",
  Subject: "Amazon S3 Notification",
  Message: JSON.stringify(content),
  Timestamp: "2026-11-22T12:00:00.000Z",
});

/** @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html */
export const eventBridgeEvent = (key: string) => ({
  version: "0",
  id: "17793124-05d4-b198-2fde-7ededc63b103",
  "detail-type": "Object Created",
  source: "aws.s3",
  account: "123456789012",
  time: "2026-11-22T12:00:00Z",
  region: "eu-west-1",
  resources: ["arn:aws:s3:::portolan"],
  detail: {
    version: "0",
    bucket: { name: "portolan" },
    object: { key, size: 5, etag: "b1946ac92492d2347c6235b4d2611184" },
  },
});

export const scheduledEvent = {
  version: "0",
  id: "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa",
  "detail-type": "Scheduled Event",
  source: "aws.events",
  account: "123456789012",
  time: "2026-11-22T12:00:00Z",
  region: "eu-west-1",
  resources: ["arn:aws:events:eu-west-1:123456789012:rule/portolan"],
  detail: {},
};

/** @see https://developers.cloudflare.com/r2/buckets/event-notifications/ */
export const r2Event = (key: string) => ({
  account: "3f4b7e3dcab231cbfdaa90a6a28bd548",
  action: "PutObject",
  bucket: "portolan",
  object: { key, size: 65536, eTag: "c846ff7a18f28c2e262116d6e8719ef0" },
  eventTime: "2026-11-22T12:00:00.000Z",
});
