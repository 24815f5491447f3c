/** One process that serves: by itself, or as one of several workers. */

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Logger } from "pino";
import type { CertificateAuthority } from "../../ca/certificate-authority.ts";
import { neededSecretsKey } from "../../ca/secrets-key.ts";
import { behindSources, sourceAges } from "../../compile/collected/source-ages.ts";
import { frontApp } from "../../front/app.ts";
import { type Authentication, noAuthentication } from "../../front/auth/authentication.ts";
import { authenticationFor } from "../../front/auth/open-to.ts";
import { serveGrpc } from "../../front/connect/grpc-server.ts";
import { mountConnect } from "../../front/connect/mount.ts";
import { binarySecrets } from "../../front/connect/secret-call.ts";
import { keepCertificate } from "../../front/connect/server-certificate.ts";
import { createFront, type Front } from "../../front/front.ts";
import { type BelievedGenerations, memoryGenerations } from "../../front/heads/believed-generations.ts";
import { memoryCdsAcks } from "../../front/heads/cds-acks.ts";
import { sharedCdsAcks, storeRecords } from "../../front/heads/shared-cds-acks.ts";
import { hostGuard } from "../../front/host-guard.ts";
import { closeServers, lastComersMs, listening, type RunningServer, serveHttp } from "../../front/node-server.ts";
import { recordedNodes } from "../../front/nodes/node-records.ts";
import type { Refusal } from "../../front/nodes/refusals.ts";
import type { UnmatchedNode } from "../../front/nodes/unmatched-nodes.ts";
import type { Moves } from "../../front/operate/moves.ts";
import { prometheusMetrics } from "../../front/prometheus.ts";
import { createRegistrations } from "../../front/registration/registrations.ts";
import { loadConsole } from "../../front/shell/load-console.ts";
import { shareOfLimits } from "../../front/workers/share-of-limits.ts";
import type { Worker } from "../../front/workers/worker.ts";
import { limits as allLimits } from "../../limits/limits.ts";
import { lookupFacts, lookupReports } from "../../resolve/lookup-reports.ts";
import { awsKms } from "../../secrets/aws-kms.ts";
import { secretsFromSetting } from "../../secrets/secrets-from-setting.ts";
import { headFacts } from "../../snapshot/head/head-facts.ts";
import { readTrust, readTrusted } from "../../snapshot/head/signing-keys.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { clusterApis } from "./cluster-keys.ts";
import { fileGenerations } from "./generation-file.ts";
import { refuseOpenMoves } from "./open-moves.ts";
import { rolloutMoves } from "./rollout-moves.ts";
import type { ServeSettings } from "./serve-settings.ts";
import { servedStore } from "./served-store.ts";
import { certificateSource, tlsSource } from "./tls-settings.ts";

/** How often fronts tell each other what changed at their nodes. */
const recordsEveryMs = 10_000;

/** What is said of nodes, once of each. */
export interface NodeNews {
  readonly onRefusal: (refusal: Refusal) => void;
  readonly onStranger: (stranger: UnmatchedNode) => void;
}

/** A process that serves as one of several. */
export interface Among {
  readonly worker: Worker;
  readonly slot: number;
}

export interface FrontProcess {
  readonly servers: readonly RunningServer[];
  readonly front: Front;
  /** Gives the last answers, writes the last records. */
  close(): Promise<void>;
}

/** @throws PortolanError for a setting that is none, and for a port that is taken */
export async function startFront(
  settings: ServeSettings,
  log: Logger,
  { onRefusal, onStranger }: NodeNews,
  among?: Among,
): Promise<FrontProcess> {
  const { host } = settings;
  const onError = (cause: unknown) => log.error(cause);
  const opened = await servedStore(settings);
  const store = among?.worker.storeOver(opened) ?? opened;
  const authority = await authorityIn(store, settings, log);
  const authentication = authenticationFor(settings.authentication, host, {
    clusterApi: clusterApis(),
    authorityIssuers: authority && (() => authority.issuers()),
    onStaleKeys: (cause) => log.warn(cause, "an issuer's JWKS could not be read; the previous keys stay trusted"),
  });
  const limits = among === undefined ? allLimits : shareOfLimits(allLimits, settings.workers);
  const nodes = recordedNodes(store, {
    front: frontName(settings, among),
    now: Date.now,
    everyMs: recordsEveryMs,
    limits,
    siblings: among?.worker.nodes,
    onError: (cause) => log.warn(cause, "node statuses could not be written to the store for other fronts"),
  });
  const metrics = prometheusMetrics({
    sourceAges: () => sourceAges(store, Date.now()),
    lookupFacts: () => lookupFacts(store, Date.now),
    headFacts: () => headFacts(store, Date.now),
    siblings: among?.worker.metrics,
  });
  const memory = among?.worker.cdsAcks ?? memoryCdsAcks(Date.now);
  const wanted = wantedFrom(settings.compileUrl);
  const { onWanted: trigger } = wanted;
  const registrations =
    trigger &&
    createRegistrations({ store, server: `${settings.frontName ?? hostname()}_${randomUUID()}`, trigger, onError });
  const front = createFront({
    authority,
    registrations,
    onCertificate: (record) => log.info({ certificate: record }, "a certificate was issued"),
    onCertificateRefused: (refusal) => log.warn({ certificate: refusal }, "a certificate was refused"),
    behindSources: () => behindSources(store, Date.now()),
    lookups: () => lookupReports(store),
    loadTracer: async () => (await import("../../front/tracing/tracer.ts")).tracer,
    store,
    nodes,
    limits,
    ...secretsFromSetting(
      store,
      settings.secretsKey,
      "PORTOLAN_SECRETS_KEY",
      awsKms({ onWarning: (text) => log.warn(text) }),
    ),
    ...readTrusted(settings.trustedKeys, "PORTOLAN_TRUSTED_KEYS"),
    generations: among?.worker.generations ?? (await believedGenerations(settings, onError)),
    maxHoldMs: settings.maxHoldMs,
    authentication,
    metrics,
    siblings: among?.worker.siblings,
    cdsAcks: settings.sharesCdsAcks ? sharedCdsAcks(storeRecords(store), { memory, onError }) : memory,
    onRefusal,
    onStranger,
    ...wanted,
    ...movesIn(store, settings, authentication),
    onError,
  });
  among?.worker.serve({
    refusals: () => front.explainRefusals(),
    strangers: () => front.strangers.active(),
    nodes: () => nodes.active(),
    metrics: () => metrics.series(),
  });
  const app = frontApp(front, loadConsole);
  mountConnect(app, front, binarySecrets);
  const servers: RunningServer[] = [];
  const listen = async (name: string, port: number, start: () => Promise<RunningServer>) =>
    servers.push(await listening(start(), `${host}:${port}`, `set ${name} to another port`));
  const close = async () => {
    await closeServers(servers, front.close, lastComersMs);
    registrations?.close();
    await nodes.close();
  };
  const { port, grpcPort, tlsPort } = settings;
  try {
    const guard = hostGuard({ servesAnyone: authentication === noAuthentication, host, hosts: settings.hosts });
    await listen("PORT", port, () => serveHttp(app, port, host, limits, guard, front.serverError));
    if (grpcPort !== undefined) await listen("PORTOLAN_GRPC_PORT", grpcPort, () => serveGrpc(front, grpcPort, host));
    if (tlsPort !== undefined) {
      const source = certificateSource(tlsSource(settings), settings.tlsNames, authority);
      const certificate = await keepCertificate(source, onError);
      await listen("PORTOLAN_TLS_PORT", tlsPort, () => serveGrpc(front, tlsPort, host, certificate));
    }
  } catch (cause) {
    await close();
    throw cause;
  }
  return { servers, front, close };
}

/**
 * What was believed of the store's HEADs before this process. Without keys that are trusted nothing is: anybody could write a newer HEAD.
 *
 * @throws PortolanError for a file that cannot be read
 */
export const believedGenerations = async (
  { trustedKeys, generations: folder, store }: ServeSettings,
  onError: (cause: unknown) => void,
): Promise<BelievedGenerations> =>
  trustedKeys === undefined ? memoryGenerations() : fileGenerations({ folder, store, onError });

/** The CA in the store, where it is asked for. What signs is loaded then. @throws PortolanError without the key to it */
async function authorityIn(
  store: ObjectStore,
  { ca, caMaxHours, secretsKey }: ServeSettings,
  log: Logger,
): Promise<CertificateAuthority | undefined> {
  if (!ca) return undefined;
  neededSecretsKey(secretsKey);
  const { openAuthority } = await import("../../ca/open-authority.ts");
  const onWarning = (text: string) => log.warn(text);
  return openAuthority({
    store,
    secretsKey,
    maxHours: caMaxHours,
    services: awsKms({ onWarning }),
    onError: (cause) => log.error(cause, "the CA"),
  });
}

/** Workers of one front write records apart, and the one that takes another's place goes on with that one's. */
const frontName = ({ frontName }: ServeSettings, among: Among | undefined): string | undefined =>
  frontName === undefined || among === undefined ? frontName : `${frontName}/${among.slot}`;

/**
 * Moves of HEAD for operators, where that is set: this process then writes HEAD, and needs the key that signs it.
 *
 * @throws PortolanError where nobody would have to prove who he is
 */
function movesIn(
  store: ObjectStore,
  { moves, signingKey, trustedKeys }: ServeSettings,
  authentication: Authentication,
): { readonly moves?: Moves } {
  if (!moves) return {};
  refuseOpenMoves(moves, authentication);
  const names = { signer: "PORTOLAN_SIGNING_KEY", trusted: "PORTOLAN_TRUSTED_KEYS" };
  return { moves: rolloutMoves(store, readTrust({ signer: signingKey, trusted: trustedKeys }, names)) };
}

/** Whom to ask for classes that nodes want: a compile function, or nobody. What signs is loaded when somebody asks. */
function wantedFrom(url: string | undefined): { readonly onWanted?: () => Promise<void> } {
  if (url === undefined) return {};
  return {
    onWanted: async () => {
      const { compileSecret, postSigned } = await import("../post-signed.ts");
      await postSigned(url, "/hooks/recompile", "", compileSecret());
    },
  };
}
