import { isHmacSha256, sha256Hex } from "./hmac.ts";
import { type HeaderReader, type Refusal, refused } from "./signature.ts";

/** How long after a push its delivery is taken. GitHub lets people send one again for three days. */
const pushAgeSeconds = 3 * 24 * 3600;

/** How far GitHub's clock may be ahead: a push of a time to come could be sent again until then, and records do not live as long. */
const aheadSeconds = 300;

/**
 * `ping` is what GitHub sends when a webhook is made; nothing is to be done. Neither is for `other`, a genuine delivery of another event:
 * what a webhook sends that was made for all events.
 */
export type GithubVerdict =
  | { readonly kind: "push"; readonly key: string; readonly content: object }
  | { readonly kind: "ping" | "other" }
  | Refusal;

/** Whether the headers are those of a delivery that may be genuine: what can be said before the body is read. */
export function judgeGithubHeaders(header: HeaderReader): Refusal | undefined {
  if (!/^sha256=[0-9a-f]{64}$/.test(header("x-hub-signature-256") ?? "")) return refused("the request is not signed");
  if (!/^application\/json\b/.test(header("content-type") ?? ""))
    return refused("set the webhook's content type to application/json");
  return undefined;
}

/**
 * Judges a delivery of GitHub's. Its signature covers the body alone: so a delivery is named by the body, and taken only while the
 * push that it tells of is recent. A replay, under whatever delivery id, is thus one that was seen, or too old.
 */
export async function judgeGithub(
  secrets: readonly string[],
  header: HeaderReader,
  body: Uint8Array<ArrayBuffer>,
  nowMs: number,
): Promise<GithubVerdict> {
  const signature = header("x-hub-signature-256")?.slice("sha256=".length) ?? "";
  if (!(await isHmacSha256(secrets, body, signature))) return refused("the signature is wrong");
  const content = readJson(body);
  if ("zen" in content) return { kind: "ping" };
  if (!("ref" in content)) return { kind: "other" };
  const repository = "repository" in content ? content.repository : undefined;
  const pushedAt =
    typeof repository === "object" && repository !== null && "pushed_at" in repository ? repository.pushed_at : "";
  const seconds = typeof pushedAt === "number" ? pushedAt : Date.parse(String(pushedAt)) / 1000;
  const ageSeconds = nowMs / 1000 - seconds;
  // What is no time compares as false. GitHub gives every push one: `repository.pushed_at`, in seconds.
  if (!(ageSeconds >= -aheadSeconds && ageSeconds <= pushAgeSeconds))
    return refused(`this is no push of the last ${pushAgeSeconds / 3600} hours`);
  return { kind: "push", key: await sha256Hex(body), content };
}

function readJson(body: Uint8Array): object {
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(body));
    return typeof json === "object" && json !== null ? json : {};
  } catch {
    return {};
  }
}
