import { describe, expect, it } from "vitest";
import { readLambdaEvent, readQueueBatch } from "../../../lib/compile/triggers/trigger-event.ts";
import { eventBridgeEvent, r2Event, s3Event, s3TestEvent, scheduledEvent, snsMessage, sqsEvent } from "./events.ts";

const sentMs = Date.UTC(2026, 10, 22, 12);
const moved = "sources/main/list";
const text = JSON.stringify;

describe("an event on Lambda", () => {
  it.each([
    ["a schedule", scheduledEvent, "aws.events"],
    ["S3's that a source's list was written", s3Event(moved), "aws:s3"],
    ["S3's that a collector has moved its source", s3Event("sources/cluster east/head"), "aws:s3"],
    ["S3's of which one is about a source", s3Event("blobs/ab/cd", moved), "aws:s3"],
    ["S3's through SQS", sqsEvent(text(s3Event("HEAD")), text(s3Event(moved))), "aws:sqs"],
    ["S3's through SNS and SQS", sqsEvent(text(snsMessage(s3Event(moved)))), "aws:sqs"],
    ["S3's through EventBridge", eventBridgeEvent(moved), "aws.s3"],
    ["S3's through EventBridge and SQS", sqsEvent(text(eventBridgeEvent(moved))), "aws:sqs"],
    ["somebody's message", sqsEvent("please"), "aws:sqs"],
    ["somebody's message in JSON", sqsEvent("{}"), "aws:sqs"],
    ["nothing in particular", {}, "event"],
    ["no object at all", undefined, "event"],
  ])("asks for a compile when it is %s", (_what, event, from) => {
    expect(readLambdaEvent(event)).toMatchObject({ asks: true, from });
  });

  it.each([
    ["what a compile writes itself", s3Event("HEAD", "blobs/ab/cdef", "compile/lease", "hooks/portolan/k1", "gc/x")],
    ["a part of a source, before its list names it", s3Event("sources/main/files/abc", "sources/main/versions/abc")],
    ["a collector's sign of life", s3Event("sources/main/state")],
    ["S3's question whether somebody is there", s3TestEvent],
    ["that question through SQS", sqsEvent(text(s3TestEvent))],
    ["an object of another mesh in the bucket", eventBridgeEvent("other/sources/main/list")],
  ])("asks for nothing when it is about %s", (_what, event) => {
    expect(readLambdaEvent(event).asks).toBe(false);
  });

  it("is about the mesh whose folder it names", () => {
    const event = s3Event("mesh1/sources/main/list");
    expect(readLambdaEvent(event, "mesh1").asks).toBe(true);
    expect(readLambdaEvent(event, "mesh1/").asks).toBe(true);
    expect(readLambdaEvent(event, "mesh").asks).toBe(false);
    expect(readLambdaEvent(s3Event(moved), "mesh1/").asks).toBe(false);
  });

  it("says how many messages it stands for, and since when the oldest waits", () => {
    expect(readLambdaEvent(sqsEvent("a", "b", "c"))).toMatchObject({ messages: 3, sentMs });
    expect(readLambdaEvent(s3Event(moved))).toMatchObject({ messages: 1, sentMs });
    expect(readLambdaEvent(scheduledEvent)).toMatchObject({ messages: 1, sentMs });
    expect(readLambdaEvent({ Records: [{ body: "x" }] })).not.toHaveProperty("sentMs");
  });
});

describe("a batch of Cloudflare's Queues", () => {
  const timestamp = new Date(sentMs);

  it("asks when one of R2's events is about a source, whatever the others are about", () => {
    const bodies = [r2Event("blobs/ab/cd"), r2Event(moved)];
    const batch = bodies.map((body, i) => ({ body, timestamp: new Date(sentMs + 1000 * i) }));
    expect(readQueueBatch(batch)).toEqual({ asks: true, from: "r2", messages: 2, sentMs });
  });

  it("asks for nothing when all of R2's events are about what a compile writes", () => {
    expect(readQueueBatch([{ body: r2Event("HEAD"), timestamp }]).asks).toBe(false);
    expect(readQueueBatch([{ body: r2Event(moved), timestamp }], "mesh1/").asks).toBe(false);
  });

  it.each([[undefined], ["please"], [{}], [7]])("asks for whoever sends %j", (body) => {
    expect(readQueueBatch([{ body, timestamp }])).toMatchObject({ asks: true, from: "queue" });
  });
});
