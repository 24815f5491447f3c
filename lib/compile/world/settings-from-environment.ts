import { readTrust } from "../../snapshot/head/signing-keys.ts";
import { readSlicing, type Slicing } from "../slices/slice-settings.ts";
import { type Pace, readPace } from "../triggers/pace.ts";
import { type Repositories, readRepositories } from "../webhook/repository/read-repositories.ts";
import { readAudiences } from "../webhook/signature.ts";
import { readWebhookSecrets, type WebhookSecrets } from "../webhook/webhook-secrets.ts";
import type { WorldOptions } from "./world-of.ts";
import { worldFromSettings } from "./world-settings.ts";

/** What a compile function on Node is told: how to compile, how soon, whose word counts. */
export interface CompileSettings {
  readonly secrets: WebhookSecrets;
  /** As `WebhookOptions` has them. */
  readonly audiences: readonly string[];
  /** That sources are filled from. */
  readonly repositories: Repositories;
  readonly world: WorldOptions;
  readonly publisher: ReturnType<typeof readTrust>;
  readonly pace: Pace;
  readonly slicing: Slicing;
}

const prefix = "PORTOLAN_";

/**
 * Reads it from variables, on Lambda as in `portolan serve`.
 *
 * @param env with what is said; an empty variable says nothing
 * @throws PortolanError that names the variable, and what it may be
 */
export function compileSettingsFrom(env: Readonly<Record<string, string | undefined>>): CompileSettings {
  return {
    secrets: readWebhookSecrets(
      {
        WEBHOOK_SECRET: env.PORTOLAN_WEBHOOK_SECRET,
        FRONT_SECRET: env.PORTOLAN_FRONT_SECRET,
        SOURCE_SECRETS: env.PORTOLAN_SOURCE_SECRETS,
        GITHUB_SECRETS: env.PORTOLAN_GITHUB_SECRETS,
        GITLAB_SECRETS: env.PORTOLAN_GITLAB_SECRETS,
      },
      prefix,
    ),
    audiences: readAudiences(env.PORTOLAN_WEBHOOK_AUDIENCE),
    repositories: readRepositories(
      { REPOSITORIES: env.PORTOLAN_REPOSITORIES, REPOSITORY_TOKENS: env.PORTOLAN_REPOSITORY_TOKENS },
      prefix,
    ),
    world: worldFromSettings(
      {
        BINARY_FORMS: env.PORTOLAN_BINARY_FORMS,
        CERTIFICATES: env.PORTOLAN_CERTIFICATES,
        LEGACY_API: env.PORTOLAN_LEGACY_API,
        LEGACY_RELEASE: env.PORTOLAN_LEGACY_RELEASE,
        POLL_DELAY_MS: env.PORTOLAN_POLL_DELAY_MS,
        SECURITY_FAILURE: env.PORTOLAN_SECURITY_FAILURE,
      },
      prefix,
    ),
    publisher: readTrust(
      { signer: env.PORTOLAN_SIGNING_KEY, trusted: env.PORTOLAN_TRUSTED_KEYS },
      { signer: "PORTOLAN_SIGNING_KEY", trusted: "PORTOLAN_TRUSTED_KEYS" },
    ),
    pace: readPace(
      {
        DEBOUNCE_MS: env.PORTOLAN_DEBOUNCE_MS,
        DEBOUNCE_MAX_MS: env.PORTOLAN_DEBOUNCE_MAX_MS,
        LEASE_SECONDS: env.PORTOLAN_LEASE_SECONDS,
        COMPILE_SECONDS: env.PORTOLAN_COMPILE_SECONDS,
      },
      prefix,
    ),
    slicing: readSlicing(
      {
        COMPILE_WORKERS: env.PORTOLAN_COMPILE_WORKERS,
        COMPILE_SLICES: env.PORTOLAN_COMPILE_SLICES,
        COMPILE_SLICE_MEMORY_MIB: env.PORTOLAN_COMPILE_SLICE_MEMORY_MIB,
      },
      prefix,
    ),
  };
}
