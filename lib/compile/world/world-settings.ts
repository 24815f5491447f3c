import { securityFailures } from "../../config/fail-closed/closed-object.ts";
import { choiceIn, flagIn, wholeNumberIn } from "../../config/setting-values.ts";
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
  const named = (name: keyof WorldSettings) => [`${prefix}${name}`, settings[name]] as const;
  const certificates = choiceIn(...named("CERTIFICATES"), ["sds", "files"]);
  const securityFailure = choiceIn(...named("SECURITY_FAILURE"), securityFailures);
  const release = choiceIn(...named("LEGACY_RELEASE"), ["0.7", "0.8"]);
  const legacyApi = choiceIn(...named("LEGACY_API"), ["true", "false"]) ?? (release === undefined ? "false" : "true");
  const pollDelayMs = wholeNumberIn(...named("POLL_DELAY_MS"), { least: 1, most: 99_999, usual: undefined });
  return {
    ...defaultWorldOptions,
    ...(pollDelayMs === undefined ? {} : { pollDelayMs }),
    binaryForms: flagIn(...named("BINARY_FORMS")),
    ...(certificates === undefined ? {} : { certificates }),
    ...(securityFailure === undefined ? {} : { securityFailure }),
    ...(legacyApi === "true" ? { legacyApi: release ?? "0.8" } : {}),
  };
}
