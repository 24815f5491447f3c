/** The compile function as a process of its own, to be killed: `node compile-process.ts <folder> <secret>`. Writes its address. */
import { createLeasedCompiler } from "../../../lib/compile/triggers/leased-compiler.ts";
import { webhookApp } from "../../../lib/compile/webhook/app.ts";
import { noSecrets } from "../../../lib/compile/webhook/webhook-secrets.ts";
import { serveHttp } from "../../../lib/front/node-server.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";

const [folder = "", secret = ""] = process.argv.slice(2);
const store = fileStore(folder);
const app = webhookApp({
  store,
  secrets: { ...noSecrets, operators: [secret] },
  sources: ["main"],
  recompile: createLeasedCompiler({ store, pace: { leaseMs: 2000, quietMs: 10 } }),
});
const { url } = await serveHttp(app, 0);
process.stdout.write(`${url}\n`);
