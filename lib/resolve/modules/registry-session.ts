import { answerText } from "../../base/answer-text.ts";
import { toBase64 } from "../../base/base64.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { isFields, jsonIn } from "../../base/untyped.ts";
import { type Fetch, type FetchRules, fetchAnswer } from "../fetch-text.ts";
import type { ImageReference } from "./image-reference.ts";

/** Basic credentials for a registry. */
export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
}

/** Reads from one repository of a registry. */
export interface RegistrySession {
  /**
   * @param path behind `/v2/<repository>/`
   * @param use reads an answer of status 200
   * @throws PortolanError for any other answer
   */
  read<T>(path: string, accept: string, use: (response: Response) => Promise<T>): Promise<T>;
}

const maxTokenBytes = 64 * 1024;

/**
 * A session that answers the registry's challenge, once: with the credentials, or with a token that whoever the registry names gives for
 * them, or to anybody.
 *
 * @see https://distribution.github.io/distribution/spec/auth/token/
 */
export function registrySession(
  fetch: Fetch,
  rules: FetchRules,
  { registry, repository }: Pick<ImageReference, "registry" | "repository">,
  credentials: RegistryCredentials | undefined,
  signal: AbortSignal,
): RegistrySession {
  const base = `https://${registry}`;
  const origin = new URL(base).origin;
  let authorization: string | undefined;

  /** The answer to a challenge. @throws PortolanError where there is none */
  async function authorized(challenge: string | null, where: string): Promise<string> {
    const [scheme = "", text = ""] = (challenge ?? "").split(/\s+(.*)/s);
    const basic =
      credentials === undefined
        ? undefined
        : `Basic ${toBase64(new TextEncoder().encode(`${credentials.username}:${credentials.password}`))}`;
    if (scheme.toLowerCase() === "basic") {
      if (basic === undefined) throw denied(where, credentials);
      return basic;
    }
    const { realm, service, scope = `repository:${repository}:pull` } = challengeParameters(text);
    const url = realm === undefined ? null : URL.parse(realm);
    if (scheme.toLowerCase() !== "bearer" || url === null)
      throw new PortolanError(`${where} answers 401 and names no way to get a token`);
    if (service !== undefined) url.searchParams.set("service", service);
    url.searchParams.set("scope", scope);
    const asked = url.origin;
    // Credentials go to whom the registry names, and no further.
    const headersAt = (at: URL) => ({
      accept: "application/json",
      ...(basic === undefined || at.origin !== asked ? {} : { authorization: basic }),
    });
    const text_ = await fetchAnswer(fetch, rules, { url: url.href, headersAt, signal }, async (response, at) => {
      if (response.status === 401 || response.status === 403) throw denied(`${at.origin}${at.pathname}`, credentials);
      if (response.status !== 200) throw new PortolanError(`${at.origin}${at.pathname} answers ${response.status}`);
      return answerText(response, maxTokenBytes);
    });
    const answer = text_ === undefined ? undefined : jsonIn(text_);
    const token = isFields(answer) ? (answer.token ?? answer.access_token) : undefined;
    if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token))
      throw new PortolanError(`${url.origin}${url.pathname} gives no token`);
    return `Bearer ${token}`;
  }

  return {
    async read(path, accept, use) {
      const url = `${base}/v2/${repository}/${path}`;
      const once = () =>
        fetchAnswer(
          fetch,
          rules,
          {
            url,
            // A registry sends on to a store that has its own way to know whom it may answer.
            headersAt: (at) => ({
              accept,
              ...(authorization === undefined || at.origin !== origin ? {} : { authorization }),
            }),
            signal,
          },
          async (response, at) => {
            const { status } = response;
            if (status === 401 && at.origin === origin)
              return { kind: "challenged", challenge: response.headers.get("www-authenticate") } as const;
            if (status === 200) return { kind: "read", value: await use(response) } as const;
            if (status === 401 || status === 403) throw denied(url, credentials);
            throw new PortolanError(`${at.origin}${at.pathname} answers ${status}`);
          },
        );
      const first = await once();
      if (first.kind === "read") return first.value;
      authorization = await authorized(first.challenge, url);
      const second = await once();
      if (second.kind === "read") return second.value;
      throw denied(url, credentials);
    },
  };
}

function denied(where: string, credentials: RegistryCredentials | undefined): PortolanError {
  const remedy =
    credentials === undefined
      ? "name a Secret with credentials in imagePullSecret, and give it with `portolan secret apply`"
      : "look at the credentials in its imagePullSecret";
  return new PortolanError(`${where} refuses the pull; ${remedy}`);
}

/** Characters of a challenge that are read. */
const maxChallenge = 2_000;

/** `realm="…",service="…"`, by name. */
function challengeParameters(text: string): Readonly<Record<string, string | undefined>> {
  const found = text.slice(0, maxChallenge).matchAll(/([a-z]+)\s*=\s*(?:"([^"]*)"|([^\s,"]+))/gi);
  return Object.fromEntries([...found].map(([, name = "", quoted, plain]) => [name.toLowerCase(), quoted ?? plain]));
}
