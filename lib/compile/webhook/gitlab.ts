import { fromBase64 } from "../../base/base64.ts";
import { hexOf, isHmacSha256, isSameText } from "./hmac.ts";
import { type HeaderReader, isRecent, type Refusal, refused, windowSeconds } from "./signature.ts";

/** A delivery of GitLab's. */
export type GitlabVerdict = { readonly kind: "genuine"; readonly key: string } | Refusal;

/** Secrets of this form are signing tokens; any other is sent as it is, in `x-gitlab-token`. */
const signingPrefix = "whsec_";

/** Whether the headers are those of a delivery that may be genuine, before the body is read: a token is judged for good. */
export async function judgeGitlabHeaders(
  secrets: readonly string[],
  header: HeaderReader,
  nowMs: number,
): Promise<Refusal | undefined> {
  const [signature, token] = [header("webhook-signature"), header("x-gitlab-token")];
  if (signature !== undefined) {
    if (!secrets.some((secret) => secret.startsWith(signingPrefix))) return refused("no signing token is known here");
    return isRecent(header("webhook-timestamp") ?? "", nowMs)
      ? undefined
      : refused(`the timestamp is more than ${windowSeconds} s away from this clock, or none`);
  }
  if (token === undefined) return refused("the request is not signed");
  for (const secret of secrets) {
    if (!secret.startsWith(signingPrefix) && secret !== "" && (await isSameText(secret, token))) return undefined;
  }
  return refused("the token is wrong");
}

/**
 * Judges a delivery of GitLab's whose headers passed, by its signature if it has one: HMAC-SHA256 over
 * `<webhook-id>.<webhook-timestamp>.<body>`.
 *
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export async function judgeGitlab(
  secrets: readonly string[],
  header: HeaderReader,
  body: Uint8Array<ArrayBuffer>,
): Promise<GitlabVerdict> {
  const signatures = header("webhook-signature");
  const key = header("webhook-id") ?? header("idempotency-key") ?? header("x-gitlab-event-uuid") ?? "";
  if (!/^[A-Za-z0-9_.:-]{1,128}$/.test(key)) return refused("the delivery has no id");
  if (signatures === undefined) return { kind: "genuine", key };
  const head = new TextEncoder().encode(`${key}.${header("webhook-timestamp") ?? ""}.`);
  const message = new Uint8Array(head.length + body.length);
  message.set(head);
  message.set(body, head.length);
  const keys = secrets.filter((secret) => secret.startsWith(signingPrefix)).map(signingKey);
  for (const signature of signatures.split(" ").slice(0, 4)) {
    const [version, base64 = ""] = signature.split(",");
    if (version === "v1" && (await isHmacSha256(keys, message, hexOf(bytesOf(base64)))))
      return { kind: "genuine", key };
  }
  return refused("the signature is wrong");
}

const signingKey = (secret: string): Uint8Array<ArrayBuffer> => bytesOf(secret.slice(signingPrefix.length));

/** Empty when it is no base64. */
const bytesOf = (text: string): Uint8Array<ArrayBuffer> => fromBase64(text) ?? new Uint8Array();
