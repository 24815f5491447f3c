import type { Clients, Outcome } from "./clients.ts";
import type { Random } from "./random.ts";

/** One kind of request, hostile or not. */
export interface AttackClass {
  readonly name: string;
  readonly transport:
    | "REST"
    | "v1"
    | "Connect"
    | "gRPC-Web"
    | "gRPC"
    | "stream"
    | "HTTP/1.1"
    | "HTTP/2"
    | "webhook"
    | "objects";
  /** How many of a thousand requests. */
  readonly share: number;
  /** Every way in which such a request may end. */
  readonly ends: readonly string[];
  send(clients: Clients, random: Random): Promise<Outcome>;
}
