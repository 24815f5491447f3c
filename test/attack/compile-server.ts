/** The compile function's HTTP side on Node, over a folder, for who attacks it. What it is asked for is taken note of and not done. */
import { webhookApp } from "../../lib/compile/webhook/app.ts";
import { readWebhookSecrets } from "../../lib/compile/webhook/webhook-secrets.ts";
import { serveHttp } from "../../lib/front/node-server.ts";
import { fileStore } from "../../lib/storage/files/files.ts";

const { PORTOLAN_STORE = "", WEBHOOK_SECRET, GITHUB_SECRETS } = process.env;
const app = webhookApp({
  store: fileStore(PORTOLAN_STORE, { durable: false }),
  secrets: readWebhookSecrets({ WEBHOOK_SECRET, GITHUB_SECRETS }),
  sources: ["main"],
  recompile: async () => ({ kind: "unchanged", version: "", generation: 0, diagnostics: [] }),
  onError: (cause) => console.error(cause),
});
const server = await serveHttp(app, 0);
console.log(JSON.stringify({ level: 30, urls: [server.url] }));
process.once("SIGTERM", () => server.close());
