/**
 * The front as a Lambda function: serves the snapshots in an S3 bucket over REST, Connect and gRPC-Web, without the compiler. `handler` stands
 * behind a function URL, `gatewayHandler` behind an HTTP API of API Gateway.
 */

import { lazyAuthority } from "../lib/ca/lazy-authority.ts";
import { caHoursIn, choiceIn, flagIn } from "../lib/config/setting-values.ts";
import { frontApp } from "../lib/front/app.ts";
import { undecidedAuthentication } from "../lib/front/auth/authentication.ts";
import { readAuthentication } from "../lib/front/auth/settings.ts";
import { createFront } from "../lib/front/front.ts";
import { sharedCdsAcks, storeRecords } from "../lib/front/heads/shared-cds-acks.ts";
import { twoStores } from "../lib/front/heads/two-stores.ts";
import { loadConsole } from "../lib/front/shell/load-console.ts";
import { awsKms } from "../lib/secrets/aws-kms.ts";
import { secretsFromSetting } from "../lib/secrets/secrets-from-setting.ts";
import { readTrusted } from "../lib/snapshot/head/signing-keys.ts";
import { certificateLog } from "./certificate-log.ts";
import { streamedHandler, wholeHandler } from "./function-url.ts";
import { copyFromEnvironment, s3FromEnvironment } from "./s3-from-environment.ts";

const { PORTOLAN_AUTHENTICATION = "", PORTOLAN_TRUSTED_KEYS: trusted } = process.env;

const [original, copy] = [s3FromEnvironment(), copyFromEnvironment()];
const trust = readTrusted(trusted, "PORTOLAN_TRUSTED_KEYS");
const store = copy === undefined ? original : twoStores(original, copy, trust);

/** The CA, which is loaded for the first certificate. */
const authority =
  choiceIn("PORTOLAN_CA", process.env.PORTOLAN_CA, ["on", "off"]) === "on"
    ? lazyAuthority(async () =>
        (await import("../lib/ca/open-authority.ts")).openAuthority({
          store,
          secretsKey: process.env.PORTOLAN_SECRETS_KEY,
          maxHours: caHoursIn("PORTOLAN_CA_MAX_HOURS", process.env.PORTOLAN_CA_MAX_HOURS),
          services: awsKms({ onWarning: console.warn }),
          onError: (cause) => console.error(String(cause)),
        }),
      )
    : undefined;

// Time spent waiting is billed here, so no poll is held.
const front = createFront({
  store,
  authority,
  ...certificateLog,
  ...secretsFromSetting(
    store,
    process.env.PORTOLAN_SECRETS_KEY,
    "PORTOLAN_SECRETS_KEY",
    awsKms({ onWarning: console.warn }),
  ),
  ...trust,
  maxHoldMs: 0,
  // A function URL is open to the world: nobody is served before somebody has decided.
  authentication:
    PORTOLAN_AUTHENTICATION === "" ? undecidedAuthentication : readAuthentication(PORTOLAN_AUTHENTICATION),
  ...(choiceIn("PORTOLAN_CONFIRMATIONS", process.env.PORTOLAN_CONFIRMATIONS, ["own", "store"]) === "store"
    ? { cdsAcks: sharedCdsAcks(storeRecords(store), { onError: (cause) => console.error(String(cause)) }) }
    : {}),
  // The bucket tells whoever compiles of a record; without the setting the function may write none.
  ...(flagIn("PORTOLAN_WANTED", process.env.PORTOLAN_WANTED) ? { onWanted: () => {} } : {}),
  // Loaded when somebody first asks: no start pays for it.
  loadTracer: async () => (await import("../lib/front/tracing/tracer.ts")).tracer,
  onError: (cause) => console.error(String(cause)),
  onRefusal: (refusal) => console.warn(JSON.stringify(refusal)),
});

const app = frontApp(front, loadConsole);

/** Connect and gRPC-Web weigh more than the rest of the front: a start waits for them only if it is for such a call. */
let loading: Promise<typeof app> | undefined;
const appWithCalls = () =>
  (loading ??= import("../lib/front/connect/mount.ts").then(({ mountConnect }) => {
    const whole = frontApp(front);
    mountConnect(whole, front);
    return whole;
  }));

/** Paths of methods: `/envoy.service.…/Fetch…`, `/portolan.v1.…/DeltaFetch` and `/istio.v1.auth.…/CreateCertificate`. */
const isCall = (request: Request): boolean =>
  request.method === "POST" &&
  /^\/(?:envoy\.service|portolan\.v1|istio\.v1\.auth)\./.test(new URL(request.url).pathname);

const served = {
  fetch: async (request: Request, event: object) =>
    (isCall(request) ? await appWithCalls() : app).fetch(request, event),
};

export const handler = streamedHandler(served);
export const gatewayHandler = wholeHandler(served);
