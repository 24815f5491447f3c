import { toBase64 } from "../base/base64.ts";
import { type Fields, fieldsOf, flagOf, isFields, jsonIn, textOf } from "../base/untyped.ts";
import { expansionOf } from "../config/documents/expansion.ts";
import { limits } from "../limits/limits.ts";
import { cutText } from "../snapshot/free-text.ts";

/** The one version of the AdmissionReview that is read. */
const reviewVersion = "admission.k8s.io/v1";

/** What an API server asks about one object. */
export interface AdmissionRequest {
  /** Comes back in the answer. */
  readonly uid: string;
  readonly operation: Operation;
  /** Namespace of the object; "" for one that is in none. */
  readonly namespace: string;
  /** "" while the object has a `generateName` alone. */
  readonly name: string;
  /** "" for the object itself, `status` and the like for a part of it. */
  readonly subResource: string;
  /** Nothing is stored, whatever the answer is. */
  readonly isDryRun: boolean;
  /** Account that asks for the change; "" where the review has none. */
  readonly username: string;
  /** The object as it is to be; absent for DELETE. */
  readonly object?: Fields;
  /** The object as it was; absent for CREATE. */
  readonly oldObject?: Fields;
}

const operations = ["CREATE", "UPDATE", "DELETE", "CONNECT"] as const;
export type Operation = (typeof operations)[number];

/** What an API server does about it. */
export interface AdmissionAnswer {
  readonly allowed: boolean;
  /** Why it is refused, for the user; absent where it is allowed. */
  readonly message?: string;
  /** Shown to the user, whether it is allowed or not. */
  readonly warnings: readonly string[];
  /** Operations of a JSON patch; absent: the object stays as it is. */
  readonly patch?: readonly object[];
}

/**
 * Reads an AdmissionReview.
 *
 * @returns what is wrong with a text that is none, as one sentence
 */
export function readReview(text: string): AdmissionRequest | string {
  const review = jsonIn(text);
  if (!isFields(review)) return "the body is no JSON object";
  if (expansionOf(review, limits.depth).depth > limits.depth)
    return `the body is nested more than ${limits.depth} levels deep`;
  const { apiVersion, kind, request } = review;
  if (kind !== "AdmissionReview" || apiVersion !== reviewVersion)
    return `the body is no AdmissionReview of ${reviewVersion}: set admissionReviewVersions to ["v1"]`;
  if (!isFields(request)) return "the AdmissionReview has no request";
  const operation = operations.find((known) => known === request.operation);
  const { uid } = request;
  if (typeof uid !== "string" || uid === "" || uid.length > maxUid) return "request.uid is not a usable name";
  if (operation === undefined) return `request.operation is none of ${operations.join(", ")}`;
  const needed = operation === "DELETE" ? "oldObject" : "object";
  if (operation !== "CONNECT" && !isFields(request[needed])) return `request.${needed} is not an object`;
  return {
    uid,
    operation,
    namespace: textOf(request.namespace),
    name: textOf(request.name),
    subResource: textOf(request.subResource),
    username: textOf(fieldsOf(request.userInfo).username),
    isDryRun: flagOf(request.dryRun) ?? false,
    ...(isFields(request.object) ? { object: request.object } : {}),
    ...(isFields(request.oldObject) ? { oldObject: request.oldObject } : {}),
  };
}

const maxUid = 256;

/** Longest reason of a refusal, in bytes: an API server hands it on to the user as it is. */
const maxMessageBytes = 8 * 1024;

/** API servers cut warnings to 256 characters each once all of them together have 4,096. */
const maxWarnings = 16;
const maxWarningBytes = 256;

/** The AdmissionReview that answers a request. */
export function reviewOf(uid: string, { allowed, message, warnings, patch }: AdmissionAnswer): object {
  const told = boundedWarnings(warnings);
  return {
    apiVersion: reviewVersion,
    kind: "AdmissionReview",
    response: {
      uid,
      allowed,
      ...(message === undefined
        ? {}
        : { status: { code: 422, reason: "Invalid", message: cutText(message, maxMessageBytes) } }),
      ...(told.length === 0 ? {} : { warnings: told }),
      ...(patch === undefined || patch.length === 0
        ? {}
        : { patchType: "JSONPatch", patch: toBase64(new TextEncoder().encode(JSON.stringify(patch))) }),
    },
  };
}

function boundedWarnings(warnings: readonly string[]): readonly string[] {
  const each = [...new Set(warnings)].map((warning) => cutText(warning, maxWarningBytes));
  if (each.length <= maxWarnings) return each;
  const left = each.length - maxWarnings + 1;
  return [...each.slice(0, maxWarnings - 1), `${left} more warnings: \`portolan analyze\` lists all of them`];
}
