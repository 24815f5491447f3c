import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { freePort } from "../free-port.ts";

const moto = new URL("../../.venv/bin/moto_server", import.meta.url).pathname;

/** A queue with dead letters on a server that speaks SQS. */
export interface SqsQueue {
  readonly endpoint: string;
  readonly url: string;
  /** One message as Lambda's event source hands it on; undefined where there is none now. */
  receive(): Promise<{ readonly messageId: string; readonly body: string; readonly receiptHandle: string } | undefined>;
  delete(receiptHandle: string): Promise<void>;
  /** Messages that failed too often. */
  dead(): Promise<number>;
  close(): Promise<void>;
}

/** @param maxReceiveCount after so many tries a message is dead; a message that failed comes again at once */
export async function startSqs(maxReceiveCount: number): Promise<SqsQueue> {
  if (!existsSync(moto)) throw new Error("no SQS server: install Python 3 with venv, then run `npm run setup:e2e`");
  const port = await freePort();
  const child = spawn(moto, ["-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  const endpoint = `http://127.0.0.1:${port}`;
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const isUp = await fetch(endpoint).then(
      () => true,
      () => false,
    );
    if (isUp) break;
    await sleep(100);
  }
  const credentials = { accessKeyId: "portolan", secretAccessKey: "portolan-secret" };
  const client = new SQSClient({ endpoint, region: "us-east-1", credentials });
  const create = async (QueueName: string, Attributes: Record<string, string>) =>
    (await client.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl ?? "";
  const attribute = async (QueueUrl: string, name: "QueueArn" | "ApproximateNumberOfMessages") => {
    const { Attributes } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [name] }));
    return Attributes?.[name] ?? "";
  };
  const deadUrl = await create("dead", {});
  const deadLetterTargetArn = await attribute(deadUrl, "QueueArn");
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount });
  const url = await create("slices", { VisibilityTimeout: "0", RedrivePolicy });
  return {
    endpoint,
    url,
    async receive() {
      const { Messages: [message] = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl: url }));
      if (message === undefined) return undefined;
      const { MessageId = "", Body = "", ReceiptHandle = "" } = message;
      return { messageId: MessageId, body: Body, receiptHandle: ReceiptHandle };
    },
    async delete(ReceiptHandle) {
      await client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }));
    },
    dead: async () => Number(await attribute(deadUrl, "ApproximateNumberOfMessages")),
    async close() {
      client.destroy();
      const exit = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await exit;
    },
  };
}
