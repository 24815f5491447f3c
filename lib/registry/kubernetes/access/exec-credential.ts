import { z } from "zod";
import { PortolanError } from "../../../base/diagnostic.ts";

/** What a credential plugin has printed. */
export interface ExecCredential {
  readonly token?: string;
  /** PEM, both or none. */
  readonly certificate?: string;
  readonly key?: string;
  /** Milliseconds since the epoch; absent: good until it is refused. */
  readonly untilMs?: number;
}

const schema = z.looseObject({
  kind: z.literal("ExecCredential"),
  status: z.looseObject({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().optional(),
  }),
});

/** What a plugin is told of its caller, for the variable KUBERNETES_EXEC_INFO. */
export function execInfo(apiVersion: string): string {
  return JSON.stringify({ apiVersion, kind: "ExecCredential", spec: { interactive: false } });
}

/** @throws PortolanError for any other output, without repeating it */
export function readExecCredential(command: string, output: string): ExecCredential {
  let json: unknown;
  try {
    json = JSON.parse(output);
  } catch {
    throw new PortolanError(`${command} has printed no ExecCredential`);
  }
  const read = schema.safeParse(json);
  if (!read.success) throw new PortolanError(`${command} has printed no ExecCredential with a status`);
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = read.data.status;
  const untilMs = expirationTimestamp === undefined ? Number.NaN : Date.parse(expirationTimestamp);
  const hasCertificate = clientCertificateData !== undefined && clientKeyData !== undefined;
  if (token === undefined && !hasCertificate)
    throw new PortolanError(`${command} has printed an ExecCredential with neither a token nor a certificate`);
  return {
    ...(token === undefined ? {} : { token }),
    ...(hasCertificate ? { certificate: clientCertificateData, key: clientKeyData } : {}),
    ...(Number.isNaN(untilMs) ? {} : { untilMs }),
  };
}
