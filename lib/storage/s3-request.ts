import type { S3Client } from "@aws-sdk/client-s3";
import { PortolanError } from "../config/diagnostic.ts";

/** One request, as often as it has to be made. */
export interface S3Request<T> {
  /** How long one attempt may take, body and all. */
  readonly timeoutMs: number;
  /** @param isRepeat whether an attempt before got no answer, so that nobody knows what came of it */
  send(signal: AbortSignal, isRepeat: boolean): Promise<T>;
}

const maxAttempts = 3;

/**
 * Makes a request until it is answered. What the server answers, errors too, is the answer; only silence is tried again, on
 * another connection: those that are open may all be dead.
 *
 * @throws PortolanError when there was no answer to any attempt
 */
export async function untilAnswered<T>(client: S3Client, { timeoutMs, send }: S3Request<T>): Promise<T> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), timeoutMs);
    try {
      return await orAborted(send(silence.signal, attempt > 1), silence.signal);
    } catch (cause) {
      if (!silence.signal.aborted) throw cause;
      dropIdleSockets(client);
    } finally {
      clearTimeout(timer);
    }
  }
  throw new PortolanError(`no answer within ${(maxAttempts * timeoutMs) / 1_000} s`);
}

/** A body that has begun to come does not hear of the signal. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("given up")), { once: true });
    promise.then(resolve, reject);
  });
}

/** The SDK keeps connections for the next request, which would be silent too. */
function dropIdleSockets(client: S3Client): void {
  const { requestHandler } = client.config;
  // Only Node's handler has agents that keep connections.
  const agents = hasConfigs(requestHandler) ? Object.values(requestHandler.httpHandlerConfigs()) : [];
  for (const socket of agents.flatMap(freeSocketsOf)) socket.destroy();
}

const hasConfigs = (handler: object): handler is { httpHandlerConfigs(): object } =>
  "httpHandlerConfigs" in handler && typeof handler.httpHandlerConfigs === "function";

interface Destroyable {
  destroy(): void;
}

function freeSocketsOf(agent: unknown): readonly Destroyable[] {
  if (typeof agent !== "object" || agent === null || !("freeSockets" in agent)) return [];
  const lists = agent.freeSockets;
  if (typeof lists !== "object" || lists === null) return [];
  return Object.values(lists).flat().filter(isDestroyable);
}

const isDestroyable = (value: unknown): value is Destroyable =>
  typeof value === "object" && value !== null && "destroy" in value && typeof value.destroy === "function";
