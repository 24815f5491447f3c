import { answerText } from "../../base/answer-text.ts";
import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { fieldsOf, textOf } from "../../base/untyped.ts";
import { createSemaphore } from "../../limits/semaphore.ts";
import type { FetchKeys } from "./remote-keys.ts";

/** The API server of a cluster, as far as it tells whose tokens hold. */
export interface ClusterApi {
  /** Reads a path of it, the host of the URL aside. */
  readonly fetchKeys: FetchKeys;
  /** Posts JSON to a path of it. */
  post(path: string, body: object, signal: AbortSignal): Promise<Response>;
}

/** What the API server says of a token. */
export type Review =
  | {
      readonly kind: "held";
      readonly subject: string;
      /** Name of the pod that the token is bound to. */
      readonly pod: string | undefined;
    }
  | { readonly kind: "refused"; readonly reason: string };

/** Has a token reviewed. @throws PortolanError when the API server does not say */
export type ReviewToken = (token: string, audiences: readonly string[]) => Promise<Review>;

const path = "/apis/authentication.k8s.io/v1/tokenreviews";
const podName = "authentication.kubernetes.io/pod-name";

/** How long the API server is waited for, with the wait for others before. */
const patienceMs = 5_000;
/** Of requests that anybody can make. */
const reviewsAtATime = 32;
const maxBytes = 64 * 1024;

/**
 * Asks a cluster's API server whether a token holds: bound objects that are gone, and keys that are withdrawn, count at once.
 *
 * @see https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-review-v1/
 */
export function tokenReview(api: ClusterApi): ReviewToken {
  const room = createSemaphore(reviewsAtATime);
  return async (token, audiences) => {
    const signal = AbortSignal.timeout(patienceMs);
    const leave = await room.enter(1, signal);
    try {
      const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token, audiences } };
      const response = await api.post(path, body, signal);
      const text = await answerText(response, maxBytes);
      if (response.status !== 201 || text === undefined)
        throw new PortolanError(`the API server answers a TokenReview with ${response.status}`);
      return reviewIn(fieldsOf(fieldsOf(JSON.parse(text)).status), audiences);
    } catch (cause) {
      throw cause instanceof PortolanError
        ? cause
        : new PortolanError(`the API server reviews no token: ${causeText(cause)}`, [], cause);
    } finally {
      leave();
    }
  };
}

function reviewIn(
  { authenticated, audiences, user, error }: Readonly<Record<string, unknown>>,
  wanted: readonly string[],
): Review {
  if (authenticated !== true) return { kind: "refused", reason: textOf(error) || "the API server does not know it" };
  // An authenticator that knows nothing of audiences names none: its tokens are for anybody.
  const isForUs = Array.isArray(audiences) && audiences.some((one) => wanted.includes(one));
  if (!isForUs) return { kind: "refused", reason: `it is not for ${wanted.join(" or ")}` };
  const { username, extra } = fieldsOf(user);
  const pods = fieldsOf(extra)[podName];
  const [pod, ...more]: readonly unknown[] = Array.isArray(pods) ? pods : [];
  return {
    kind: "held",
    subject: textOf(username),
    pod: typeof pod === "string" && more.length === 0 ? pod : undefined,
  };
}
