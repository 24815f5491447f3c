import { availableParallelism, totalmem } from "node:os";
import { caHoursIn, choiceIn, maxHoldLimitMs, usualHoldMs, wholeNumberIn } from "../../config/setting-values.ts";
import { settingText } from "../../front/auth/setting-file.ts";

/** How a front on Node serves. Texts are as docs/run-on-one-machine.md describes the variables of the same names. */
export interface ServeSettings {
  /** A folder, or `s3://bucket/prefix`. */
  readonly store: string;
  /** A copy of the store, to read from where the store cannot be reached. */
  readonly storeCopy?: string | undefined;
  readonly s3Endpoint?: string | undefined;
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** Absent: no gRPC. */
  readonly grpcPort?: number | undefined;
  /** The same with TLS; absent: none. */
  readonly tlsPort?: number | undefined;
  readonly tlsNames: readonly string[];
  readonly tlsCertificate?: string | undefined;
  readonly tlsKey?: string | undefined;
  /** Whether workloads' certificates are signed with the CA in the store. */
  readonly ca: boolean;
  readonly caMaxHours?: number | undefined;
  /** Names that requests may ask for besides loopback's and `host`, where anyone on this machine is served. */
  readonly hosts: readonly string[];
  readonly maxHoldMs: number;
  /** Processes that serve; one serves by itself. */
  readonly workers: number;
  readonly authentication?: string | undefined;
  readonly trustedKeys?: string | undefined;
  /** Folder with the newest generation of HEAD that was believed, where keys are trusted. */
  readonly generations: string;
  readonly secretsKey?: string | undefined;
  /** Name among several on one store. */
  readonly frontName?: string | undefined;
  /** Whether fronts tell one another through the store what nodes have confirmed. */
  readonly sharesCdsAcks: boolean;
  readonly compileUrl?: string | undefined;
  /** Whether operators may move HEAD through this front: it writes HEAD then. */
  readonly moves: boolean;
  /** What signs such moves. */
  readonly signingKey?: string | undefined;
}

/** What there is to serve with. */
export interface Machine {
  readonly cores: number;
  /** Of the machine, or of the container that the process runs in. */
  readonly memoryBytes: number;
}

const thisMachine = (): Machine => ({
  cores: availableParallelism(),
  memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
});

/** What one process may come to take. */
const workerBytes = 256 * 1024 * 1024;

/** As many processes as there are cores, but no more than there is memory for. */
const workersFor = ({ cores, memoryBytes }: Machine): number =>
  Math.max(Math.min(cores, Math.floor(memoryBytes / workerBytes), maxWorkers), 1);

/** @throws PortolanError for a setting that is none */
export function settingsFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  machine: Machine = thisMachine(),
): ServeSettings {
  const number = <T>(name: string, usual: T, least: number, most: number) =>
    wholeNumberIn(name, env[name], { least, most, usual });
  return {
    store: env.PORTOLAN_STORE ?? ".portolan/store",
    storeCopy: env.PORTOLAN_STORE_COPY === "" ? undefined : env.PORTOLAN_STORE_COPY,
    s3Endpoint: env.PORTOLAN_S3_ENDPOINT,
    host: env.HOST ?? "127.0.0.1",
    port: number("PORT", 8080, 0, maxPort),
    grpcPort: number("PORTOLAN_GRPC_PORT", undefined, 0, maxPort),
    tlsPort: number("PORTOLAN_TLS_PORT", undefined, 0, maxPort),
    tlsNames: namesIn(env.PORTOLAN_TLS_NAMES, istiodNames),
    tlsCertificate: env.PORTOLAN_TLS_CERTIFICATE || undefined,
    tlsKey: env.PORTOLAN_TLS_KEY || undefined,
    ca: choiceIn("PORTOLAN_CA", env.PORTOLAN_CA, ["on", "off"]) === "on",
    caMaxHours: caHoursIn("PORTOLAN_CA_MAX_HOURS", env.PORTOLAN_CA_MAX_HOURS),
    hosts: hostsIn(env),
    maxHoldMs: number("PORTOLAN_MAX_HOLD_MS", usualHoldMs, 0, maxHoldLimitMs),
    workers: number("PORTOLAN_WORKERS", workersFor(machine), 1, maxWorkers),
    authentication: settingText(env.PORTOLAN_AUTHENTICATION),
    trustedKeys: settingText(env.PORTOLAN_TRUSTED_KEYS),
    generations: env.PORTOLAN_GENERATIONS || ".portolan/generations",
    secretsKey: settingText(env.PORTOLAN_SECRETS_KEY),
    frontName: env.PORTOLAN_FRONT_NAME,
    sharesCdsAcks: choiceIn("PORTOLAN_CONFIRMATIONS", env.PORTOLAN_CONFIRMATIONS, ["own", "store"]) === "store",
    compileUrl: env.PORTOLAN_COMPILE_URL === "" ? undefined : env.PORTOLAN_COMPILE_URL,
    moves: choiceIn("PORTOLAN_MOVES", env.PORTOLAN_MOVES, ["on", "off"]) === "on",
    signingKey: settingText(env.PORTOLAN_SIGNING_KEY),
  };
}

/** Names that requests may ask for, with commas between them. */
export const hostsIn = ({
  PORTOLAN_HOSTS: names = "",
}: Readonly<Record<string, string | undefined>>): readonly string[] => namesIn(names, []);

/** Names with commas between them. */
function namesIn(text: string | undefined, usual: readonly string[]): readonly string[] {
  const names = (text ?? "").split(",").filter((name) => name !== "");
  return names.length === 0 ? usual : names;
}

/** Names by which Istio's agents reach a control plane. */
const istiodNames = [
  "istiod.istio-system.svc",
  "istiod.istio-system",
  "istiod.istio-system.svc.cluster.local",
  "istio-pilot.istio-system.svc",
];

const maxPort = 65_535;
const maxWorkers = 256;
