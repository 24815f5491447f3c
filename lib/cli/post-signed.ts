import { PortolanError } from "../base/diagnostic.ts";
import { signRequest } from "../compile/webhook/signature.ts";
import { settingText } from "../front/auth/setting-file.ts";
import { problemIn } from "./problem-text.ts";

/**
 * The secret to sign with: the first, when the environment, or the file that it names after an `@`, holds the new one and the old.
 *
 * @throws PortolanError when the environment has no secret for compile functions
 */
export function webhookSecret(): string {
  const secret = firstSecret("PORTOLAN_WEBHOOK_SECRET");
  if (secret === "") throw new PortolanError("no secret: set PORTOLAN_WEBHOOK_SECRET to the compile function's");
  return secret;
}

/** What a front signs with. @throws PortolanError as `webhookSecret`, where the environment has no secret for fronts either */
export function compileSecret(): string {
  const secret = firstSecret("PORTOLAN_COMPILE_SECRET");
  return secret === "" ? webhookSecret() : secret;
}

const firstSecret = (name: string): string => (settingText(process.env[name]) ?? "").trim().split(/\s+/)[0] ?? "";

/** The host that requests to a compile function are signed for: no other function takes them. @throws PortolanError for what is no URL */
export function audienceOf(url: string): string {
  if (!URL.canParse(url)) throw new PortolanError(`${url} is no URL of a compile function`);
  return new URL(url).host;
}

/**
 * Posts to a compile function.
 *
 * @param url without the path
 * @returns the answer's text
 * @throws PortolanError when it refuses, or cannot be reached
 */
export const postSigned = (url: string, path: string, body: string, secret: string): Promise<string> =>
  askSigned(url, { method: "POST", path, body }, secret);

/** Reads from a compile function. @throws as `postSigned` */
export const getSigned = (url: string, path: string, secret: string): Promise<string> =>
  askSigned(url, { method: "GET", path, body: "" }, secret);

interface SignedRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body: string;
}

async function askSigned(url: string, { method, path, body }: SignedRequest, secret: string): Promise<string> {
  const signable = { method, audience: audienceOf(url), target: path, body: new TextEncoder().encode(body) };
  const headers = await signRequest(secret, signable, crypto.randomUUID(), Date.now());
  const target = url.replace(/\/$/, "") + path;
  const init = { method, headers, ...(method === "POST" ? { body } : {}) };
  const response = await fetch(target, init).catch((cause: unknown) => {
    throw new PortolanError(`${target} cannot be reached`, [], cause);
  });
  const text = await response.text();
  if (response.ok) return text;
  const { detail, diagnostics } = problemIn(text);
  throw new PortolanError(`${target} answers ${response.status}: ${detail}`, diagnostics);
}
