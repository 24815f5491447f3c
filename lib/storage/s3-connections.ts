import type { S3Client } from "@aws-sdk/client-s3";

/** Closes the connections that the SDK keeps for the next request: after silence that one would get no answer either. */
export function dropIdleSockets(client: S3Client): void {
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
