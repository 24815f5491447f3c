import { availableParallelism, totalmem } from "node:os";
import { PortolanError } from "../../config/diagnostic.ts";
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
  readonly confirmsByStore: boolean;
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
  const number = (name: string, otherwise: number, least: number, most: number) =>
    wholeNumber(name, env[name] ?? String(otherwise), least, most);
  return {
    store: env.PORTOLAN_STORE ?? ".portolan/store",
    storeCopy: env.PORTOLAN_STORE_COPY === "" ? undefined : env.PORTOLAN_STORE_COPY,
    s3Endpoint: env.PORTOLAN_S3_ENDPOINT,
    host: env.HOST ?? "127.0.0.1",
    port: number("PORT", 8080, 0, maxPort),
    grpcPort: env.PORTOLAN_GRPC_PORT === undefined ? undefined : number("PORTOLAN_GRPC_PORT", 0, 0, maxPort),
    maxHoldMs: number("PORTOLAN_MAX_HOLD_MS", 25_000, 0, Number.MAX_SAFE_INTEGER),
    workers: number("PORTOLAN_WORKERS", workersFor(machine), 1, maxWorkers),
    authentication: settingText(env.PORTOLAN_AUTHENTICATION),
    trustedKeys: settingText(env.PORTOLAN_TRUSTED_KEYS),
    generations: env.PORTOLAN_GENERATIONS || ".portolan/generations",
    secretsKey: settingText(env.PORTOLAN_SECRETS_KEY),
    frontName: env.PORTOLAN_FRONT_NAME,
    confirmsByStore: env.PORTOLAN_CONFIRMATIONS === "store",
    compileUrl: env.PORTOLAN_COMPILE_URL === "" ? undefined : env.PORTOLAN_COMPILE_URL,
    moves: isOn("PORTOLAN_MOVES", env.PORTOLAN_MOVES),
    signingKey: settingText(env.PORTOLAN_SIGNING_KEY),
  };
}

function isOn(name: string, text = ""): boolean {
  if (!["", "on", "off"].includes(text)) throw new PortolanError(`${name} is ${JSON.stringify(text)}; it is on or off`);
  return text === "on";
}

const maxPort = 65_535;
const maxWorkers = 256;

function wholeNumber(name: string, text: string, least: number, most: number): number {
  if (/^\d{1,16}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
  const from = least === 0 ? "" : `from ${least} `;
  throw new PortolanError(`${name} is ${JSON.stringify(text)}; it is a whole number ${from}up to ${most}`);
}
