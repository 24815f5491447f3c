/** The front on one machine: serves the snapshots in a folder or a bucket. docs/run-on-one-machine.md lists the variables. */
import pino from "pino";
import { sourceAges } from "../lib/compile/collected/source-ages.ts";
import { PortolanError } from "../lib/config/diagnostic.ts";
import { frontApp } from "../lib/front/app.ts";
import { authenticationFor } from "../lib/front/auth/open-to.ts";
import { settingText } from "../lib/front/auth/setting-file.ts";
import { serveGrpc } from "../lib/front/connect/grpc-server.ts";
import { mountConnect } from "../lib/front/connect/mount.ts";
import { createFront } from "../lib/front/front.ts";
import { sharedConfirmations, storeRecords } from "../lib/front/heads/shared-confirmations.ts";
import { twoStores } from "../lib/front/heads/two-stores.ts";
import { nodeCalls } from "../lib/front/node-calls.ts";
import { listening, type RunningServer, serveHttp } from "../lib/front/node-server.ts";
import { recordedNodes } from "../lib/front/nodes/node-records.ts";
import { strangerRemedy } from "../lib/front/nodes/stranger-remedy.ts";
import { prometheusMetrics } from "../lib/front/prometheus.ts";
import { limits } from "../lib/limits/limits.ts";
import { awsKms } from "../lib/secrets/aws-kms.ts";
import { secretsFromSetting } from "../lib/secrets/secrets-from-setting.ts";
import { readTrusted } from "../lib/snapshot/head/signing-keys.ts";
import { openStore } from "../lib/storage/open-store.ts";

const log = pino();
const loadConsole = async () => (await import("../gen/console.ts")).consoleFiles;
const {
  PORTOLAN_STORE = ".portolan/store",
  PORTOLAN_STORE_COPY = "",
  HOST = "127.0.0.1",
  PORT = "8080",
  PORTOLAN_GRPC_PORT,
  PORTOLAN_MAX_HOLD_MS = "25000",
} = process.env;

/** How often fronts tell each other what changed at their nodes. */
const recordsEveryMs = 10_000;

async function serve(): Promise<void> {
  const authentication = authenticationFor(settingText(process.env.PORTOLAN_AUTHENTICATION), HOST);
  const open = (where: string) => openStore(where, { s3Endpoint: process.env.PORTOLAN_S3_ENDPOINT });
  const first = await open(PORTOLAN_STORE);
  const store = PORTOLAN_STORE_COPY === "" ? first : twoStores(first, await open(PORTOLAN_STORE_COPY));
  const nodes = recordedNodes(store, {
    front: process.env.PORTOLAN_FRONT_NAME,
    now: Date.now,
    everyMs: recordsEveryMs,
    limits,
    onError: (cause) => log.warn(cause, "what nodes have could not be shared with other fronts"),
  });
  const front = createFront({
    store,
    nodes,
    ...secretsFromSetting(
      store,
      settingText(process.env.PORTOLAN_SECRETS_KEY),
      "PORTOLAN_SECRETS_KEY",
      awsKms({ onWarning: (text) => log.warn(text) }),
    ),
    ...readTrusted(settingText(process.env.PORTOLAN_TRUSTED_KEYS), "PORTOLAN_TRUSTED_KEYS"),
    maxHoldMs: wholeNumber("PORTOLAN_MAX_HOLD_MS", PORTOLAN_MAX_HOLD_MS),
    authentication,
    metrics: prometheusMetrics({ sourceAges: () => sourceAges(store, Date.now()) }),
    onRefusal: (refusal) => log.warn(refusal, "a node refuses an answer"),
    onStranger: (stranger) =>
      log.warn({ ...stranger, remedy: strangerRemedy(stranger) }, "a node has no class of its own"),
    ...(process.env.PORTOLAN_CONFIRMATIONS === "store"
      ? { confirmations: sharedConfirmations(storeRecords(store), { onError: (cause) => log.error(cause) }) }
      : {}),
    ...wantedFrom(process.env.PORTOLAN_COMPILE_URL),
    onError: (cause) => log.error(cause),
  });
  const app = frontApp(front, loadConsole);
  mountConnect(app, front);
  const servers: RunningServer[] = [];
  const listen = async (name: string, text: string, start: (port: number) => Promise<RunningServer>) => {
    const port = wholeNumber(name, text, 65_535);
    servers.push(await listening(start(port), `${HOST}:${port}`, `set ${name} to another port`));
  };
  const close = async () => {
    front.close();
    await Promise.all(servers.map((server) => server.close()));
    await nodes.close();
  };
  try {
    await listen("PORT", PORT, (port) => serveHttp(app, port, HOST, front.limits, nodeCalls(front)));
    if (PORTOLAN_GRPC_PORT !== undefined)
      await listen("PORTOLAN_GRPC_PORT", PORTOLAN_GRPC_PORT, (port) => serveGrpc(front, port, HOST));
  } catch (cause) {
    await close();
    throw cause;
  }
  log.info({ urls: servers.map(({ url }) => url), store: PORTOLAN_STORE }, "serving");
  log.info(`authentication is ${authentication.description}`);

  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, close);

  const hint = `nothing was published to ${PORTOLAN_STORE} yet: \`portolan push FOLDER --store ${PORTOLAN_STORE}\` does it`;
  // A store that is silent now may answer later.
  await front.heads.current().then(
    (head) => head === undefined && log.warn(hint),
    (cause: unknown) => log.error(cause),
  );
}

/** Whom to ask for classes that nodes want: a compile function, or nobody. What signs is loaded when somebody asks. */
function wantedFrom(url = ""): { readonly onWanted?: () => Promise<void> } {
  if (url === "") return {};
  return {
    onWanted: async () => {
      const { postSigned, webhookSecret } = await import("../lib/cli/post-signed.ts");
      await postSigned(url, "/hooks/recompile", "", webhookSecret());
    },
  };
}

/** @throws PortolanError for a setting that is none */
function wholeNumber(name: string, text: string, most = Number.MAX_SAFE_INTEGER): number {
  if (/^\d{1,16}$/.test(text) && Number(text) <= most) return Number(text);
  throw new PortolanError(`${name} is ${JSON.stringify(text)}; it is a whole number up to ${most}`);
}

try {
  await serve();
} catch (cause) {
  // What a setting or the machine is to blame for needs no trace.
  if (!(cause instanceof PortolanError)) throw cause;
  console.error(`portolan: ${cause.message}`);
  process.exitCode = 1;
}
