import { leadsToLoopback } from "../../base/loopback.ts";

/** A server, and what an exchange with it may take. */
export interface Server {
  /** Without a path. */
  readonly url: URL;
  /** Certificates in PEM that its own is checked against; absent: those that Node brings. */
  readonly ca?: string;
  /** For each request. */
  readonly timeoutMs: number;
}

/** A node as polls name it. */
export interface PolledNode {
  readonly id: string;
  readonly cluster: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly locality?: Readonly<Record<string, unknown>>;
}

/** What a deployment is checked with. */
export interface Deployment extends Server {
  /** How messages name `ca`. */
  readonly caName: string;
  readonly token?: string;
  readonly node?: PolledNode;
  /** An Envoy's bootstrap for this front; absent: none was given. */
  readonly bootstrap?: unknown;
  readonly compile?: CompileFunction;
}

/** The other function of a deployment. */
export interface CompileFunction {
  readonly url: URL;
  readonly secret: string;
  /** The source that pushes are for. */
  readonly source: string;
}

/** Whether only this machine can connect. */
export const isHere = (url: URL): boolean => leadsToLoopback(url);
