import { PortolanError } from "../config/diagnostic.ts";
import { securityFailures } from "../config/fail-closed/closed-object.ts";
import { defaultWorldOptions, type WorldOptions } from "./world-of.ts";

/** What a compile function may be told by its environment: texts, by the names of `portolan dev`'s options. */
export interface WorldSettings {
  /** `true` stores binary forms, which the front serves over Connect and gRPC-Web. */
  readonly BINARY_FORMS?: string | undefined;
  /** `sds` (an agent) or `files` (in /etc/certs): where proxies get their certificates. */
  readonly CERTIFICATES?: string | undefined;
  /** `true` compiles the answers of the REST v1 API too. */
  readonly LEGACY_API?: string | undefined;
  /** `0.7` or `0.8`: the same, as this release gave them. LEGACY_API=false switches them off all the same. */
  readonly LEGACY_RELEASE?: string | undefined;
  /** `close`, `open` or `refuse`: what is done about refused security objects of which no valid form is known. */
  readonly SECURITY_FAILURE?: string | undefined;
  /** Milliseconds that Envoys wait between polls, as their bootstraps say: `portolan bootstrap --poll-delay`. */
  readonly POLL_DELAY_MS?: string | undefined;
}

/**
 * The options that an environment asks for. An empty setting is none.
 *
 * @param prefix of the settings' names, for messages
 * @throws PortolanError that says what a setting may be
 */
export function worldFromSettings(settings: WorldSettings, prefix = ""): WorldOptions {
  const choice = <T extends string>(name: keyof WorldSettings, choices: readonly T[]): T | undefined => {
    const text = settings[name] ?? "";
    const found = choices.find((one) => one === text);
    if (text === "" || found !== undefined) return found;
    throw new PortolanError(`${prefix}${name} is ${JSON.stringify(text)}; it may be ${choices.join(" or ")}`);
  };
  const flags = ["true", "false"] as const;
  const certificates = choice("CERTIFICATES", ["sds", "files"]);
  const securityFailure = choice("SECURITY_FAILURE", securityFailures);
  const release = choice("LEGACY_RELEASE", ["0.7", "0.8"]);
  const legacyApi = choice("LEGACY_API", flags) ?? (release === undefined ? "false" : "true");
  const pollDelay = settings.POLL_DELAY_MS ?? "";
  if (pollDelay !== "" && !/^[1-9]\d{0,4}$/.test(pollDelay))
    throw new PortolanError(`${prefix}POLL_DELAY_MS is ${JSON.stringify(pollDelay)}; it is a number from 1 to 99999`);
  return {
    ...defaultWorldOptions,
    ...(pollDelay === "" ? {} : { pollDelayMs: Number(pollDelay) }),
    binaryForms: choice("BINARY_FORMS", flags) === "true",
    ...(certificates === undefined ? {} : { certificates }),
    ...(securityFailure === undefined ? {} : { securityFailure }),
    ...(legacyApi === "true" ? { legacyApi: release ?? "0.8" } : {}),
  };
}
