import { execFile } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { hashOf } from "../../base/blob.ts";
import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { secretTypeUrl } from "../../secrets/tls-secret.ts";
import { responseText } from "../files/envoy-files.ts";
import { leafPath } from "../files/leaf-path.ts";
import { replaceFile } from "../files/replace-file.ts";
import { checkIdentity, type GoodIdentity, type Identity, identityIn } from "./identity.ts";

/** Where an identity comes from. */
export type IdentitySource =
  /** Files in PEM that somebody else renews. */
  | { readonly kind: "files"; readonly certificate: string; readonly key: string; readonly roots: string }
  /** A shell command that prints one, run again in the middle of its life. */
  | { readonly kind: "command"; readonly command: string }
  /** A server's CA, asked again in the middle of its life. */
  | { readonly kind: "server"; readonly ask: () => Promise<Identity> };

export interface IdentityFilesOptions {
  readonly source: IdentitySource;
  /** Of the agent. */
  readonly folder: string;
  readonly say: (line: string) => void;
  /** Takes the SDS resources that the identity becomes, by name, whenever they are others. */
  readonly take?: ((secrets: ReadonlyMap<string, object>) => void) | undefined;
  readonly clock?: IdentityClock;
  /** Told after each attempt to renew the identity. */
  readonly onState?: (state: IdentityState) => void;
}

/** How it stands with the identity. */
export interface IdentityState {
  /** Until when the one that was had last is good, in milliseconds since the epoch; undefined for one from before the agent's start. */
  readonly notAfterMs: number | undefined;
  /** Whether the last attempt to renew it has failed. */
  readonly isFailing: boolean;
}

/** Time, as certificates have it. */
export interface IdentityClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Resolves after so many milliseconds, or when the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

const systemClock: IdentityClock = {
  now: Date.now,
  pause: (ms, signal) => sleep(ms, undefined, { signal, ref: false }).catch(() => {}),
};

/** How often files are looked at. */
const lookMs = 1_000;
const retryMs = 10_000;
const commandMs = 30_000;
const longestMs = 12 * 3_600_000;
/** How often a wait checks the clock: timers stop while the machine is suspended, and certificates expire meanwhile. */
const sliceMs = 60_000;

/**
 * Keeps the workload's identity in two files: an Envoy without an agent reads them, and an agent that starts while there is no new one
 * begins with them. Certificate and key change together, by a rename. What is not an identity never gets there.
 *
 * @returns ends it
 * @throws PortolanError when there is none at first, and none from before either
 */
export async function keepIdentity({
  source,
  folder,
  say,
  take,
  clock = systemClock,
  onState = () => {},
}: IdentityFilesOptions): Promise<() => void> {
  const closing = new AbortController();
  /** Versions of the identity that is in use, and of the one on disk. */
  let taken = "";
  let written = "";
  let trouble = "";
  let notAfterMs: number | undefined;

  async function renew(): Promise<GoodIdentity> {
    const good = checkIdentity(await identityFrom(source), clock.now());
    const { certificate, key, roots } = good.identity;
    const version = hashOf([certificate, key, roots].join("\n"));
    ({ notAfterMs } = good);
    onState({ notAfterMs, isFailing: false });
    if (version === written) return good;
    const tls = { certificateChain: { inlineString: certificate }, privateKey: { inlineString: key } };
    const secrets = [
      secretOf("default", { tlsCertificate: tls }),
      secretOf("ROOTCA", { validationContext: { trustedCa: { inlineString: roots } } }),
    ];
    if (version !== taken) {
      // Envoy has it before it is on disk: a disk that is full keeps nobody from a certificate that is over soon.
      take?.(new Map(secrets.map((secret) => [secret.name, secret])));
      if (taken !== "") say(`a new certificate, good until ${new Date(good.notAfterMs).toISOString()}`);
      taken = version;
    }
    for (const secret of secrets) await write(folder, secret);
    written = version;
    return good;
  }

  function tell(cause: unknown): void {
    onState({ notAfterMs, isFailing: true });
    const why = causeText(cause);
    const isInUse = take !== undefined && taken !== written;
    if (why !== trouble)
      say(
        isInUse
          ? `the new certificate is in use and cannot be written into ${folder}: ${why}; an agent that starts now begins with the one before`
          : `no new certificate: ${why}; Envoy keeps the one that it has`,
      );
    trouble = why;
  }

  async function pause(ms: number): Promise<void> {
    const dueMs = clock.now() + ms;
    for (let leftMs = ms; leftMs > 0 && clock.now() < dueMs && !closing.signal.aborted; leftMs -= sliceMs)
      await clock.pause(Math.min(leftMs, sliceMs), closing.signal);
  }

  async function follow(first: GoodIdentity | undefined): Promise<void> {
    let waitMs = nextMs(source, first, clock.now());
    while (!closing.signal.aborted) {
      await pause(waitMs);
      if (closing.signal.aborted) return;
      try {
        waitMs = nextMs(source, await renew(), clock.now());
        trouble = "";
      } catch (cause) {
        tell(cause);
        waitMs = source.kind === "files" ? lookMs : retryMs;
      }
    }
  }

  const first = await renew().catch(async (cause: unknown) => {
    const kept = await keptSecrets(folder);
    if (kept === undefined) throw new PortolanError(`no certificate: ${causeText(cause)}`, [], cause);
    take?.(kept);
    tell(cause);
    return undefined;
  });
  follow(first).catch(tell);
  return () => closing.abort();
}

/** Files are looked at all the time; a command is run again in the middle of what is left, and so is a server asked. */
function nextMs(source: IdentitySource, good: GoodIdentity | undefined, nowMs: number): number {
  if (source.kind === "files") return lookMs;
  if (good === undefined) return retryMs;
  // For later: its issuer's clock or this one is wrong, and is set some time.
  if (good.notBeforeMs > nowMs) return sliceMs;
  return Math.min(Math.max((good.notAfterMs - nowMs) / 2, lookMs), longestMs);
}

async function identityFrom(source: IdentitySource): Promise<Identity> {
  if (source.kind === "command") {
    const run = promisify(execFile)("/bin/sh", ["-c", source.command], { timeout: commandMs, maxBuffer: 1024 * 1024 });
    const { stdout } = await run.catch((cause: unknown) => {
      const said = cause instanceof Error && "stderr" in cause ? String(cause.stderr).trim().split("\n").at(-1) : "";
      throw new PortolanError(`the command that should print it failed${said ? `: ${said}` : ""}`, [], cause);
    });
    return identityIn(stdout);
  }
  if (source.kind === "server") return source.ask();
  const read = (path: string) =>
    readFile(path, "utf8").catch((cause: unknown) => {
      throw new PortolanError(`cannot read ${path}: ${causeText(cause)}`, [], cause);
    });
  const [certificate, key, roots] = await Promise.all([source.certificate, source.key, source.roots].map(read));
  return { certificate: certificate ?? "", key: key ?? "", roots: roots ?? "" };
}

const secretNames = ["default", "ROOTCA"] as const;

const secretOf = (name: (typeof secretNames)[number], content: object) => ({
  "@type": secretTypeUrl,
  name,
  ...content,
});

async function write(folder: string, secret: { readonly name: string }): Promise<void> {
  const path = join(folder, leafPath("sds", secret.name));
  await mkdir(dirname(path), { recursive: true });
  await replaceFile(path, responseText([JSON.stringify(secret)]), 0o600);
}

/** What was written before; undefined unless all of it is there and whole. */
async function keptSecrets(folder: string): Promise<ReadonlyMap<string, object> | undefined> {
  const read = async (name: string): Promise<readonly [string, object]> => {
    const { resources }: { readonly resources: readonly [object] } = JSON.parse(
      await readFile(join(folder, leafPath("sds", name)), "utf8"),
    );
    return [name, resources[0]];
  };
  return Promise.all(secretNames.map(read)).then(
    (found) => new Map(found),
    // Without them there is no certificate, which the caller says.
    () => undefined,
  );
}
