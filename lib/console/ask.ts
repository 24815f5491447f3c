import { type ApiName, apiPaths } from "../front/api/paths.ts";
import type { MoveAnswer, MoveBody } from "../front/api/schema/changes.ts";
import type { ApiAnswers } from "../front/api/schema/described.ts";

/** What the front says instead of an answer. */
export interface Problem {
  readonly kind: "problem";
  /** Of HTTP; 0 where the front cannot be reached. */
  readonly status: number;
  readonly detail: string;
}

/** What came of asking the front. */
export type Reply<T> = { readonly kind: "answer"; readonly value: T } | Problem;

type Values = Readonly<Record<string, string | number | undefined>>;

const tokenKey = "portolan-token";

/** An operator's token, for as long as the tab is open. */
export const readToken = (): string => sessionStorage.getItem(tokenKey) ?? "";

export function keepToken(token: string): void {
  if (token === "") sessionStorage.removeItem(tokenKey);
  else sessionStorage.setItem(tokenKey, token);
}

/** Asks the API of the front that the page came from. */
export async function ask<Name extends ApiName>(
  name: Name,
  values: Values = {},
  signal?: AbortSignal,
): Promise<Reply<ApiAnswers[Name]>> {
  const rest = new Map(Object.entries(values));
  const path = apiPaths[name].path.replace(/:(\w+)/g, (_, key: string) => {
    const value = rest.get(key);
    rest.delete(key);
    return encodeURIComponent(value ?? "");
  });
  const query = new URLSearchParams();
  for (const [key, value] of rest) if (value !== undefined && value !== "") query.set(key, String(value));
  const text = query.toString();
  return send(`.${path}${text === "" ? "" : `?${text}`}`, { ...(signal === undefined ? {} : { signal }) });
}

/** Asks the front to move HEAD. */
export const move = (body: MoveBody): Promise<Reply<MoveAnswer>> =>
  send(`.${apiPaths.move.path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

/** @returns a problem with status 0 when the front cannot be reached */
async function send<T>(path: string, init: RequestInit): Promise<Reply<T>> {
  const token = readToken();
  const headers = { ...init.headers, ...(token === "" ? {} : { authorization: `Bearer ${token}` }) };
  try {
    const response = await fetch(path, { ...init, headers });
    if (response.ok) return { kind: "answer", value: await response.json() };
    return { kind: "problem", status: response.status, detail: await detailOf(response) };
  } catch (cause) {
    if (init.signal?.aborted === true) throw cause;
    return { kind: "problem", status: 0, detail: "the front cannot be reached" };
  }
}

async function detailOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { detail }: { readonly detail?: unknown } = JSON.parse(text);
    return typeof detail === "string" ? detail : text.slice(0, 300);
  } catch {
    return text.slice(0, 300);
  }
}
