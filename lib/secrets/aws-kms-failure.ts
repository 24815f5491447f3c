/** Why KMS did not do something: for good, or for now. */
export interface KmsFailure {
  readonly kind: "refused" | "unavailable";
  /** With the key, the action and the name of KMS's error; nothing of a secret. */
  readonly reason: string;
}

export interface KmsCall {
  /** As IAM calls it. */
  readonly action: string;
  readonly key: string;
}

const denials = [
  "AccessDeniedException",
  "IncompleteSignature",
  "InvalidClientTokenId",
  "InvalidSignatureException",
  "MissingAuthenticationToken",
  "MissingAuthenticationTokenException",
  "NotAuthorized",
  "UnrecognizedClientException",
];
const throttles = ["LimitExceededException", "RequestLimitExceeded", "ThrottlingException", "TooManyRequestsException"];

/**
 * Says what an error of the SDK means: what KMS has decided is a refusal, silence and overload pass.
 *
 * @see https://docs.aws.amazon.com/kms/latest/APIReference/API_Decrypt.html#API_Decrypt_Errors
 */
export function kmsFailure(cause: unknown, { action, key }: KmsCall): KmsFailure {
  const name = cause instanceof Error ? cause.name : "";
  const refused = (says: string): KmsFailure => ({ kind: "refused", reason: `AWS KMS ${says} (${name})` });
  const unavailable = (says: string): KmsFailure => ({ kind: "unavailable", reason: `AWS KMS ${says}` });
  if (denials.includes(name)) return refused(`denies ${action} with ${key}: allow it to the caller${own(cause)}`);
  if (throttles.includes(name)) return unavailable(`throttles ${action} with ${key} (${name})`);
  switch (name) {
    case "DisabledException":
      return refused(`has the key ${key} disabled: enable it, or take another`);
    case "KMSInvalidStateException":
      return refused(`cannot use the key ${key}, which may be about to be deleted${own(cause)}`);
    case "NotFoundException":
      return refused(`has no key ${key} in this account and region`);
    case "InvalidCiphertextException":
      return refused(`does not open with ${key} what was wrapped for another secret, or was changed`);
    // An identity that was not renewed, rather than taken away.
    case "ExpiredTokenException":
      return unavailable(`takes no credentials that have run out (${name})`);
    case "CredentialsProviderError":
      return unavailable(`cannot be asked without credentials${own(cause)}`);
    default:
      if (/region is missing/i.test(own(cause)))
        return refused(`has to be asked in a region: set AWS_REGION, or name ${key} by its ARN`);
      if (isDecision(cause)) return refused(`refuses ${action} with ${key}${own(cause)}`);
      return unavailable(`is not reached for ${action} with ${key}${own(cause)}`);
  }
}

/** An answer that says that the request is wrong. */
function isDecision(cause: unknown): boolean {
  if (!(cause instanceof Error && "$metadata" in cause)) return false;
  const { httpStatusCode = 0 }: { readonly httpStatusCode?: number } = Object(cause.$metadata);
  return httpStatusCode >= 400 && httpStatusCode < 500;
}

/** What the error itself says, which is an identity, an ARN or an address. */
function own(cause: unknown): string {
  const message = cause instanceof Error ? cause.message || cause.name : String(cause);
  return `: ${message.slice(0, 300)}`;
}
