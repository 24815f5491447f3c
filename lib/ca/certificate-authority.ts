import { PortolanError } from "../base/diagnostic.ts";
import { forwardClock } from "../base/forward-clock.ts";
import type { KeyServices } from "../secrets/wrapping-keys.ts";
import { type AuthorityStore, noAuthority, type StoredAuthority } from "./authority-store.ts";
import { readCsr } from "./csr.ts";
import { type Issued, issue, type ReadySigner, readySigner } from "./issue.ts";
import { newKey } from "./new-key.ts";
import { certificateRate } from "./rate.ts";

/** A workload that has proven its service account. */
export interface Workload {
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Name of its pod, where that was proven too. */
  readonly pod?: string | undefined;
  readonly clusterId?: string | undefined;
  /** The SPIFFE id of the certificate by which it has proven itself: it gets one of that id, and of no other trust domain's. */
  readonly spiffeId?: string | undefined;
}

/** What a workload asks for. */
export interface CertificateRequest {
  readonly workload: Workload;
  /** PEM. */
  readonly csr: string;
  /** 0 and less: the usual time. */
  readonly validitySeconds: number;
}

/** A certificate that was given, for the log. */
export interface CertificateRecord {
  readonly identity: string;
  readonly serial: string;
  /** RFC 3339. */
  readonly notAfter: string;
  readonly keyType: string;
  readonly pod?: string;
  readonly clusterId?: string;
  /** The signer that the request names. The CA has one key, and signs with that. */
  readonly certSigner?: string;
}

export type CertificateAnswer =
  | {
      readonly kind: "created";
      /** The certificate, those between it and a root, and as the last element all roots; PEM. */
      readonly chain: readonly string[];
      readonly record: CertificateRecord;
    }
  | {
      readonly kind: "refused";
      readonly status: 400 | 403 | 413 | 503;
      readonly reason: string;
      /** Whether the log is to have it: of a caller that is refused all the time it has some. */
      readonly isReported: boolean;
    };

/** A server's certificate with its key, PEM. */
export interface ServerCertificate {
  /** The certificate, and those between it and a root. */
  readonly certificate: string;
  /** PKCS #8. */
  readonly key: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** The certificate authority of a mesh, as servers use it. */
export interface CertificateAuthority {
  /** Gives a workload a certificate for its own identity. */
  create(request: CertificateRequest): Promise<CertificateAnswer>;
  /** Roots that workloads trust, PEM each. @throws PortolanError when the CA cannot be read */
  roots(): Promise<readonly string[]>;
  /** Certificates of the keys that have signed what may still be valid, PEM each. @throws PortolanError when the CA cannot be read */
  issuers(): Promise<readonly string[]>;
  /** A certificate for DNS names, with a new key. @throws PortolanError when the CA cannot be read */
  serverCertificate(names: readonly string[]): Promise<ServerCertificate>;
}

export interface CertificateAuthorityOptions {
  readonly stored: AuthorityStore;
  /** Where keys that sign may be kept; none when absent. */
  readonly services?: KeyServices | undefined;
  readonly now: () => number;
  /** Longest validity, in milliseconds. */
  readonly longestMs?: number | undefined;
  /** Certificates in a minute for one pod, and for one identity. */
  readonly perMinute?: { readonly pod: number; readonly identity: number } | undefined;
  /** Hears of a store that cannot be read while the CA that was read before signs on. */
  readonly onError: (cause: unknown) => void;
}

/** Validity where a request names none, and the longest that is given unless a setting says more. */
export const usualValidityMs = 24 * 3_600_000;

/** A pod asks once in half a day, and again when it restarts. One identity may be thousands of pods that start together. */
const usualPerMinute = { pod: 60, identity: 3_000 };

/** How often the store is asked whether the CA has changed. */
const refreshMs = 10_000;

/** How long a CA that could not be read or opened is not asked for again: of callers that ask anew there may be thousands. */
const failedMs = 5_000;

/** Failures of its own in a minute that the log has. */
const loggedPerMinute = 10;

/** Names that Kubernetes gives to namespaces and service accounts; nothing else gets into an identity. */
const nameForm = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;

/** Refusals of one service account in a minute that the log has. */
const reportedPerMinute = 10;

type Refused = Extract<CertificateAnswer, { readonly kind: "refused" }>;

/** A CA whose key lies in a store, opened when it is first needed. */
export function certificateAuthority({
  stored,
  services = {},
  now,
  longestMs = usualValidityMs,
  perMinute = usualPerMinute,
  onError,
}: CertificateAuthorityOptions): CertificateAuthority {
  /** For ages; certificates have the time of `now`. */
  const agedMs = forwardClock(now);
  const rate = certificateRate();
  const refusals = certificateRate();
  let known: { readonly stored: StoredAuthority; readonly signer: ReadySigner } | undefined;
  let readMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<ReadySigner | undefined> | undefined;
  let failed: { readonly cause: unknown; readonly untilMs: number } | undefined;

  async function readAgain(): Promise<ReadySigner | undefined> {
    const found = await stored.read(known?.stored, onError);
    if (found?.etag !== known?.stored.etag)
      known = found && { stored: found, signer: await readySigner(found.authority, services) };
    readMs = agedMs();
    return known?.signer;
  }

  /** @returns undefined where the store holds no CA @throws what the last reading has thrown, for some seconds */
  function signerNow(): Promise<ReadySigner | undefined> | ReadySigner | undefined {
    if (agedMs() - readMs < refreshMs) return known?.signer;
    if (failed !== undefined && agedMs() < failed.untilMs) throw failed.cause;
    reading ??= readAgain()
      .catch((cause: unknown) => {
        failed = { cause, untilMs: agedMs() + failedMs };
        throw cause;
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  }

  async function needSigner(): Promise<ReadySigner> {
    const signer = await signerNow();
    if (signer === undefined) throw new PortolanError(noAuthority);
    return signer;
  }

  return {
    async create({ workload, csr, validitySeconds }) {
      const { namespace, serviceAccount, pod, clusterId, spiffeId } = workload;
      const account = JSON.stringify([clusterId ?? "", namespace, serviceAccount]);
      const refused = (status: Refused["status"], reason: string): Refused => {
        const isReported = refusals.take([{ name: account, perMinute: reportedPerMinute }], agedMs());
        return { kind: "refused", status, reason, isReported };
      };
      if (![namespace, serviceAccount].every((name) => nameForm.test(name)))
        return refused(400, "the caller's namespace or service account is no name of Kubernetes");
      const askedMs = validitySeconds <= 0 ? Math.min(usualValidityMs, longestMs) : validitySeconds * 1_000;
      if (askedMs > longestMs)
        return refused(400, `validity_duration is above the maximum of ${longestMs / 1_000} seconds`);
      const counts = [
        { name: account, perMinute: perMinute.identity },
        ...(pod === undefined ? [] : [{ name: `${account}${pod}`, perMinute: perMinute.pod }]),
      ];
      if (!rate.take(counts, agedMs())) return refused(413, "too many certificates in a minute for one identity");
      const read = await readCsr(csr);
      if (read.kind === "refused") return refused(400, read.reason);
      let made: { readonly signer: ReadySigner; readonly identity: string; readonly issued: Issued };
      try {
        const signer = await needSigner();
        const identity = `spiffe://${signer.trustDomain}/ns/${namespace}/sa/${serviceAccount}`;
        if (spiffeId !== undefined && spiffeId !== identity)
          return refused(403, "the caller's certificate is of another identity");
        const names = [{ type: "url", value: identity }] as const;
        const { publicKey } = read;
        made = {
          signer,
          identity,
          issued: await issue(signer, { publicKey, names, nowMs: now(), validityMs: askedMs }),
        };
      } catch (cause) {
        if (refusals.take([{ name: "", perMinute: loggedPerMinute }], agedMs())) onError(cause);
        return refused(503, "the CA cannot sign now; the server's log has the reason");
      }
      const { signer, identity, issued } = made;
      return {
        kind: "created",
        chain: [issued.certificate, ...signer.rest],
        record: {
          identity,
          serial: issued.serial,
          notAfter: new Date(issued.notAfterMs).toISOString(),
          keyType: read.keyType,
          ...(pod === undefined ? {} : { pod }),
          ...(clusterId === undefined ? {} : { clusterId }),
        },
      };
    },
    roots: async () => (await needSigner()).roots,
    issuers: async () => (await needSigner()).issuers,
    async serverCertificate(names) {
      const signer = await needSigner();
      const { publicKey, pem } = await newKey();
      const nowMs = now();
      const { certificate, notAfterMs } = await issue(signer, {
        publicKey,
        names: names.map((value) => ({ type: "dns" as const, value })),
        nowMs,
        validityMs: usualValidityMs,
      });
      const between = signer.rest.slice(0, -1);
      return { certificate: [certificate, ...between].join(""), key: pem, notBeforeMs: nowMs, notAfterMs };
    },
  };
}
