/** The front on one machine: serves the snapshots in a folder or a bucket. docs/run-on-one-machine.md lists the variables. */
import pino from "pino";
import { frontApp } from "../lib/front/app.ts";
import { authenticationFor } from "../lib/front/auth/open-to.ts";
import { settingText } from "../lib/front/auth/setting-file.ts";
import { serveGrpc } from "../lib/front/connect/grpc-server.ts";
import { mountConnect } from "../lib/front/connect/mount.ts";
import { createFront } from "../lib/front/front.ts";
import { serveHttp } from "../lib/front/node-server.ts";
import { prometheusMetrics } from "../lib/front/prometheus.ts";
import { strangerRemedy } from "../lib/front/stranger-remedy.ts";
import { awsKms } from "../lib/secrets/aws-kms.ts";
import { secretsFromSetting } from "../lib/secrets/secrets-from-setting.ts";
import { readTrusted } from "../lib/snapshot/head/signing-keys.ts";
import { openStore } from "../lib/storage/open-store.ts";

const log = pino();
const {
  PORTOLAN_STORE = ".portolan/store",
  HOST = "127.0.0.1",
  PORT = "8080",
  PORTOLAN_GRPC_PORT,
  PORTOLAN_MAX_HOLD_MS = "25000",
} = process.env;

const authentication = authenticationFor(settingText(process.env.PORTOLAN_AUTHENTICATION), HOST);
const store = await openStore(PORTOLAN_STORE, { s3Endpoint: process.env.PORTOLAN_S3_ENDPOINT });
const front = createFront({
  store,
  ...secretsFromSetting(
    store,
    settingText(process.env.PORTOLAN_SECRETS_KEY),
    "PORTOLAN_SECRETS_KEY",
    awsKms({ onWarning: (text) => log.warn(text) }),
  ),
  ...readTrusted(settingText(process.env.PORTOLAN_TRUSTED_KEYS), "PORTOLAN_TRUSTED_KEYS"),
  maxHoldMs: Number(PORTOLAN_MAX_HOLD_MS),
  authentication,
  metrics: prometheusMetrics(),
  onRefusal: (refusal) => log.warn(refusal, "a node refuses an answer"),
  onStranger: (stranger) =>
    log.warn({ ...stranger, remedy: strangerRemedy(stranger) }, "a node has no class of its own"),
  onError: (cause) => log.error(cause),
});
const app = frontApp(front);
mountConnect(app, front);
const servers = [await serveHttp(app, Number(PORT), HOST)];
if (PORTOLAN_GRPC_PORT !== undefined) servers.push(await serveGrpc(front, Number(PORTOLAN_GRPC_PORT), HOST));
log.info({ urls: servers.map(({ url }) => url), store: PORTOLAN_STORE }, "serving");
log.info(`authentication is ${authentication.description}`);

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    front.close();
    await Promise.all(servers.map((server) => server.close()));
  });
}
