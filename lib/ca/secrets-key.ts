import { PortolanError } from "../base/diagnostic.ts";

/** The setting that names the keys which seal the CA. @throws PortolanError where it names none */
export function neededSecretsKey(secretsKey: string | undefined): string {
  if (secretsKey === undefined || secretsKey.trim() === "")
    throw new PortolanError("PORTOLAN_CA needs PORTOLAN_SECRETS_KEY: the key that seals the CA in the store");
  return secretsKey;
}
