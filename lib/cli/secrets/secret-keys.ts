import { PortolanError } from "../../base/diagnostic.ts";
import { awsKms } from "../../secrets/aws-kms.ts";
import type { KeyWrapper } from "../../secrets/key-wrapper.ts";
import { wrappingKeys } from "../../secrets/wrapping-keys.ts";
import type { Terminal } from "../terminal.ts";

/** The keys of PORTOLAN_SECRETS_KEY. @throws PortolanError when it is not set */
export function secretKeys(terminal: Terminal): KeyWrapper {
  const { PORTOLAN_SECRETS_KEY: setting = "" } = process.env;
  if (setting.trim() === "")
    throw new PortolanError("no key: set PORTOLAN_SECRETS_KEY; `portolan secret key` prints a new one");
  return wrappingKeys(setting, "PORTOLAN_SECRETS_KEY", awsKms({ onWarning: terminal.err }));
}
