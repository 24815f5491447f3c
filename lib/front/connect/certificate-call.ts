import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type IstioCertificateRequest,
  IstioCertificateRequestSchema,
  type IstioCertificateResponse,
  IstioCertificateResponseSchema,
  IstioCertificateService,
} from "../../../gen/istio/auth/ca_pb.ts";
import type { CertificateAuthority, Workload } from "../../ca/certificate-authority.ts";
import { cutText } from "../../snapshot/free-text.ts";
import type { Caller } from "../auth/caller.ts";
import type { Front } from "../front.ts";
import { callOf, type DiscoveryCall } from "./calls.ts";
import { connectErrorOf } from "./connect-error.ts";

/** What hears of certificates. */
export type CertificateServices = Pick<Front, "onCertificate" | "onCertificateRefused">;

/** Istio's `CreateCertificate`, by which agents ask for a workload's certificate. */
export const certificateCall = (
  front: CertificateServices & Pick<Front, "limits" | "onError">,
  authority: CertificateAuthority,
): DiscoveryCall =>
  callOf(
    front,
    IstioCertificateService.method.createCertificate,
    undefined,
    front.limits.csrBytes,
    IstioCertificateRequestSchema,
    (request, { caller }) => createCertificate(front, authority, request, caller),
  );

/**
 * The identity is the caller's, and nothing of the request has a part in it.
 *
 * @see istio 1.31.0 security/pkg/server/ca/server.go, CreateCertificate
 * @see istio 1.31.0 security/pkg/pki/ca/ca.go, SignWithCertChain
 * @throws ConnectError
 */
async function createCertificate(
  front: CertificateServices,
  authority: CertificateAuthority,
  { csr, validityDuration, metadata = {} }: IstioCertificateRequest,
  caller: Caller,
): Promise<IstioCertificateResponse> {
  const workload = workloadOf(caller);
  if (isNamed(metadata.ImpersonatedIdentity))
    throw new ConnectError(
      "ImpersonatedIdentity is not supported: ask with the workload's own token",
      Code.Unauthenticated,
    );
  const answer = await authority.create({ workload, csr, validitySeconds: Number(validityDuration) });
  if (answer.kind === "refused") {
    const { namespace, serviceAccount, pod } = workload;
    if (answer.isReported) front.onCertificateRefused({ namespace, serviceAccount, pod, reason: answer.reason });
    throw connectErrorOf(answer);
  }
  // An istiod that signs with a key of its own signs with that one, too, whatever signer is named.
  const { CertSigner: named } = metadata;
  const certSigner = typeof named === "string" ? cutText(named, maxSignerBytes) : "";
  front.onCertificate({ ...answer.record, ...(certSigner === "" ? {} : { certSigner }) });
  return create(IstioCertificateResponseSchema, { certChain: [...answer.chain] });
}

/** Of a signer's name the log has the beginning. */
const maxSignerBytes = 128;

/** @throws ConnectError for a caller that has proven no service account */
function workloadOf(caller: Caller): Workload {
  if (caller.kind === "anyone")
    throw new ConnectError(
      "certificates are for callers with a token: authentication is off here",
      Code.Unauthenticated,
    );
  if (caller.kind !== "node" || caller.serviceAccount === undefined)
    throw new ConnectError("certificates are for workloads that prove a service account", Code.PermissionDenied);
  const { subject, namespace, serviceAccount, pod, clusterId } = caller;
  const spiffeId = subject.startsWith("spiffe:") ? subject : undefined;
  return { namespace, serviceAccount, pod, clusterId, spiffeId };
}

const isNamed = (value: unknown): boolean => value !== undefined && value !== null && value !== "";
