import { type Command, Option } from "commander";
import { PortolanError } from "../../base/diagnostic.ts";
import { textOfFile } from "../named-file.ts";

/** Files of PEM that a connection with TLS is made with. */
export interface TlsFlags {
  readonly ca?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly serverName?: string;
}

export interface Tls {
  readonly authority?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly serverName?: string;
}

/** @param env names of variables that hold a file's name each; the server's own tools have such */
export function addTlsOptions(
  command: Command,
  env: { readonly ca?: string; readonly certificate?: string; readonly key?: string } = {},
): Command {
  const option = (flags: string, text: string, variable: string | undefined): Option =>
    variable === undefined ? new Option(flags, text) : new Option(flags, text).env(variable);
  return command
    .addOption(option("--ca <file>", "CA certificates to trust, PEM (default: those of Node.js)", env.ca))
    .addOption(option("--certificate <file>", "client certificate, PEM; needs --key", env.certificate))
    .addOption(option("--key <file>", "its private key, PEM", env.key))
    .option("--server-name <name>", "the name that the server's certificate must have (default: the address's)");
}

/** The files as they are now: certificates are renewed. @throws PortolanError for a file that cannot be read, or half a pair */
export async function readTls({ ca, certificate, key, serverName }: TlsFlags): Promise<Tls> {
  if ((certificate === undefined) !== (key === undefined)) {
    throw new PortolanError("a certificate and its private key go together: give --certificate and --key");
  }
  return {
    ...(ca === undefined ? {} : { authority: await readPem(ca) }),
    ...(certificate === undefined ? {} : { certificate: await readPem(certificate) }),
    ...(key === undefined ? {} : { key: await readPem(key) }),
    ...(serverName === undefined ? {} : { serverName }),
  };
}

/** A token as it is now: tokens rotate. @throws PortolanError for a file that cannot be read, or holds none */
export async function readToken(file: string): Promise<string> {
  const token = (await textOfFile(file)).trim();
  if (token === "" || /\s/.test(token)) throw new PortolanError(`${file} holds no token`);
  return token;
}

async function readPem(file: string): Promise<string> {
  const text = await textOfFile(file);
  if (!text.includes("-----BEGIN ")) throw new PortolanError(`${file} is no PEM`);
  return text;
}
