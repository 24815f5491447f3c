import { PortolanError } from "../lib/base/diagnostic.ts";
import type { SliceJob } from "../lib/compile/slices/plan.ts";

/**
 * Sends slices to a queue of SQS.
 *
 * @param endpoint of a server other than AWS's; absent: AWS
 */
export function slicesToSqs(queueUrl: string, endpoint?: string): (job: SliceJob) => Promise<void> {
  // Loaded when there is a slice to send: most meshes have none.
  const connect = async () => {
    const { SendMessageCommand, SQSClient } = await import("@aws-sdk/client-sqs");
    const client = new SQSClient(endpoint === undefined ? {} : { endpoint });
    return (body: string) => client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body }));
  };
  let connected: ReturnType<typeof connect> | undefined;
  return async (job) => {
    connected ??= connect();
    const send = await connected;
    await send(JSON.stringify(job)).catch((cause: unknown) => {
      throw new PortolanError(`a slice could not be sent to ${queueUrl}`, [], cause);
    });
  };
}
