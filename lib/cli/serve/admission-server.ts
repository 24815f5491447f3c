import { admissionApp } from "../../admission/app.ts";
import { followAuthority } from "../../admission/follow-authority.ts";
import { createWorldReader } from "../../admission/world-reader.ts";
import { causeText } from "../../base/cause-text.ts";
import { createRootCertWriter } from "../../collect/root-cert/root-cert-writer.ts";
import type { Log } from "../../compile/telemetry/log.ts";
import { compileSettingsFrom } from "../../compile/world/settings-from-environment.ts";
import { keepRenewed } from "../../front/connect/keep-renewed.ts";
import { listening, type RunningServer, type Secure, serveHttp } from "../../front/node-server.ts";
import { readInjectionValues } from "../../injection/values.ts";
import { connectCluster } from "../../registry/kubernetes/access/connect.ts";
import type { ApiClient } from "../../registry/kubernetes/api/client.ts";
import { environmentOf } from "../../settings/environment.ts";
import type { AdmissionSettings, Settings } from "../../settings/schema.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { admissionCertificate } from "./admission-certificate.ts";
import { sourcesOf } from "./compile-function.ts";

/** Unless the settings name another one. */
export const usualAdmissionPort = 8443;

/** How often the files of certificates are looked at: a kubelet exchanges them while this runs. */
const usualLookMs = 10_000;

export interface AdmissionServerOptions {
  readonly store: ObjectStore;
  readonly settings: Settings;
  readonly log: Log;
  /** Milliseconds between looks at the certificate's files; ten seconds when absent. */
  readonly lookMs?: number;
}

/**
 * Serves the webhooks of an API server over TLS.
 *
 * @throws PortolanError for files without a certificate and key that belong together, and for a port that is taken
 */
export async function startAdmission({
  store,
  settings,
  log,
  lookMs = usualLookMs,
}: AdmissionServerOptions): Promise<RunningServer> {
  const { admission = {} } = settings;
  const { host = "127.0.0.1", port = usualAdmissionPort, workloads = "allow", world = "on", token } = admission;
  const { world: options } = compileSettingsFrom(environmentOf(settings));
  const reader = createWorldReader({ store, sources: sourcesOf(settings), options, now: () => performance.now() });
  const app = admissionApp({
    workloads,
    ...(world === "on" ? { world: reader } : {}),
    ...(token === undefined ? {} : { token }),
    ...(admission.injection === undefined
      ? {}
      : { injection: readInjectionValues(admission.injection, "admission.injection") }),
    onError: (cause) => log.error({ cause: causeText(cause) }, "a review was not answered"),
  });
  const certificate = admissionCertificate(store, settings, log, lookMs);
  const tls = await keepRenewed(certificate.read, {
    retryMs: lookMs,
    onError: (cause) => log.error({ cause: causeText(cause) }, "the admission webhooks keep their current certificate"),
  });
  const onServer: Secure["onServer"] = (server) =>
    tls.follow((next) => {
      server.setSecureContext(next);
      log.info({}, "the admission webhooks have a new certificate");
    });
  const secure = { options: tls.first, onServer };
  const started = serveHttp(app, port, host, undefined, undefined, undefined, secure);
  const server = await listening(started, `${host}:${port}`, "set admission.port to another");
  const { roots } = certificate;
  const writing = roots === undefined ? undefined : await writeRoots(admission, roots, log);
  return {
    ...server,
    async close() {
      tls.close();
      await writing?.close();
      await server.close();
    },
  };
}

/** Writes the CA's roots to where the API server and pods take them from, as far as the settings say so. */
async function writeRoots(
  { webhooks = [], rootCert = false }: AdmissionSettings,
  roots: () => Promise<readonly string[]>,
  log: Log,
): Promise<{ close(): Promise<void> } | undefined> {
  if (webhooks.length === 0 && !rootCert) return undefined;
  const { client } = await connectCluster();
  const following = webhooks.length === 0 ? undefined : followAuthority({ client, webhooks, roots, log });
  const stop = new AbortController();
  const written = rootCert ? rootCertWriter(client, roots, log).run(stop.signal) : undefined;
  return {
    async close() {
      following?.close();
      stop.abort();
      await written;
    },
  };
}

const rootCertWriter = (client: ApiClient, roots: () => Promise<readonly string[]>, log: Log) =>
  createRootCertWriter({
    client,
    roots,
    wrote: (count) => log.info({ count }, "wrote istio-ca-root-cert"),
    troubled: (reason) =>
      reason === ""
        ? log.info({}, "istio-ca-root-cert is in every namespace")
        : log.error({ reason }, "istio-ca-root-cert"),
  });
