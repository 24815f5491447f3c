/**
 * How a request of our own proves who sent it. One HMAC covers everything that decides what is done: method, path and query,
 * condition, time, the delivery's name, and the body by its hash. The hash comes in a header, so that a request is judged before a
 * byte of its body is read.
 */
import { hexOf, hmacSha256, sha256Hex, signerOf } from "./hmac.ts";

/** Reads one header of a request; names are lower-case. */
export type HeaderReader = (name: string) => string | undefined;

export interface SignableRequest {
  readonly method: string;
  /**
   * The host that it is sent to, with its port unless that is the scheme's own: no function at another host takes it. Absent: as clients of
   * 0.1 sign, so that any function with the secret takes it.
   */
  readonly audience?: string | undefined;
  /** Path and query from the compile function's address on, as they are sent. */
  readonly target: string;
  /** `if-match` or `if-none-match`, as sent. */
  readonly condition?: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

export interface Refusal {
  readonly kind: "refused";
  readonly reason: string;
}

/** A request whose headers were signed by somebody who knows the secret. */
export interface Genuine {
  readonly kind: "genuine";
  /** Names the delivery: a second request with the same one is a replay. */
  readonly key: string;
  /** SHA-256 of the body that was signed, lower-case hex. */
  readonly bodyHash: string;
  /** The one that has signed. */
  readonly secret: string;
}

export type Verdict = Genuine | Refusal;

/** How far a request's time may be from this clock. Records of deliveries have to live twice as long. */
export const windowSeconds = 300;

const deliveryName = /^[A-Za-z0-9_.:-]{1,128}$/;

/** Headers that let a request of our own pass. */
export async function signRequest(
  secret: string,
  request: SignableRequest,
  delivery: string,
  nowMs: number,
): Promise<Readonly<Record<string, string>>> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const bodyHash = await sha256Hex(request.body);
  const { method, audience, target, condition = {} } = request;
  const parts = { method, audience, target, header: (name: string) => condition[name], timestamp, delivery, bodyHash };
  const text = signedText(parts);
  return {
    ...(audience === undefined ? {} : { "x-portolan-audience": audience }),
    "x-portolan-timestamp": timestamp,
    "x-portolan-content-sha256": bodyHash,
    "x-portolan-signature": `sha256=${hexOf(await hmacSha256(secret, text))}`,
    "idempotency-key": delivery,
  };
}

/** Hosts that requests may be signed for, out of a setting with commas between them. */
export const readAudiences = (setting = ""): readonly string[] =>
  setting
    .split(",")
    .map((host) => host.trim().toLowerCase())
    .filter((host) => host !== "");

/** What a request is judged by. */
export interface JudgedRequest {
  readonly method: string;
  readonly target: string;
  readonly header: HeaderReader;
  /** The hosts that it may be signed for. */
  readonly audiences: readonly string[];
}

/**
 * Judges a request by its headers alone. Its body has still to be compared with `bodyHash`, and its delivery with those seen before.
 *
 * @param secrets of which one must have signed; none refuses everybody
 */
export async function judgeHeaders(
  secrets: readonly string[],
  { method, target, header, audiences }: JudgedRequest,
  nowMs: number,
): Promise<Verdict> {
  const signature = header("x-portolan-signature");
  if (signature === undefined) return refused("the request is not signed");
  const timestamp = header("x-portolan-timestamp") ?? "";
  const delivery = header("idempotency-key") ?? "";
  const bodyHash = header("x-portolan-content-sha256") ?? "";
  if (!isRecent(timestamp, nowMs))
    return refused(`the timestamp is more than ${windowSeconds} s away from this clock, or none`);
  if (!deliveryName.test(delivery))
    return refused("idempotency-key is absent, or not 1 to 128 letters, digits and _.:-");
  const audience = header("x-portolan-audience");
  const text = signedText({ method, audience, target, header, timestamp, delivery, bodyHash });
  const hex = /^sha256=([0-9a-f]{64})$/.exec(signature)?.[1] ?? "";
  const secret = await signerOf(secrets, text, hex);
  if (secret === undefined) return refused("the signature is wrong");
  // Clients of 0.1 sign no audience; the release after this one refuses them.
  if (audience !== undefined && !audiences.includes(audience.toLowerCase()))
    return refused(
      `the request was signed for ${audience.slice(0, 200)}, and this function is ${audiences.join(", ")}; ` +
        "where a proxy changes the host, name the one that clients use in the setting `audience`",
    );
  return { kind: "genuine", key: delivery, bodyHash, secret };
}

/** Whether a time in whole seconds is within the window. Anything but digits is not. */
export function isRecent(seconds: string, nowMs: number): boolean {
  return /^\d{1,12}$/.test(seconds) && Math.abs(nowMs / 1000 - Number(seconds)) <= windowSeconds;
}

export const refused = (reason: string): Refusal => ({ kind: "refused", reason });

interface SignedParts {
  readonly method: string;
  /** Absent: as clients of 0.1 sign. */
  readonly audience: string | undefined;
  readonly target: string;
  readonly header: HeaderReader;
  readonly timestamp: string;
  readonly delivery: string;
  readonly bodyHash: string;
}

/** The first line keeps the signature from being one over anything else; no part can hold a line's end. */
function signedText({ method, audience, target, header, timestamp, delivery, bodyHash }: SignedParts): string {
  const [ifMatch, ifNoneMatch] = [header("if-match") ?? "", header("if-none-match") ?? ""];
  const form = audience === undefined ? ["portolan request 1"] : ["portolan request 2", audience];
  return [...form, method, target, timestamp, delivery, ifMatch, ifNoneMatch, bodyHash].join("\n");
}
