/** One execution environment of a Lambda function: `node lambda-process.ts <folder of its code>`, with events and results by IPC. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder = ""] = process.argv.slice(2);
const { handler } = await import(pathToFileURL(join(folder, "index.mjs")).href);
process.on("message", async ({ event }: { event: object }) => {
  try {
    process.send?.({ result: await handler(event) });
  } catch (cause) {
    process.send?.({ result: { statusCode: 502, body: String(cause) } });
  }
});
process.send?.({ result: "ready" });
