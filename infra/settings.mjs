// Names of the settings that a deployment on AWS hands to its functions, each after `PORTOLAN_`. The Terraform module accepts the same.

/** For the functions that compile; variables that begin with `OTEL_` are handed over too. */
export const compileSettings = [
  ...["BINARY_FORMS", "CERTIFICATES", "LEGACY_API", "LEGACY_RELEASE", "POLL_DELAY_MS"],
  ...["SECURITY_FAILURE", "TRUSTED_KEYS", "WEBHOOK_AUDIENCE"],
  ...["DEBOUNCE_MS", "DEBOUNCE_MAX_MS", "LEASE_SECONDS", "COMPILE_SECONDS", "COMPILE_SLICES", "GC_KEEP"],
  "REPOSITORIES",
  // Of the webhooks for API servers; without ADMISSION_TOKEN, which `Hooks` alone gets, nothing answers them.
  ...["ADMISSION_WORKLOADS", "ADMISSION_WORLD", "ADMISSION_INJECTION"],
];

/** For the front. */
export const frontSettings = [
  "AUTHENTICATION",
  "CA",
  "CA_MAX_HOURS",
  "CONFIRMATIONS",
  "STORE_COPY",
  "TRUSTED_KEYS",
  "WANTED",
];

/** Values that must not stand in a template; each is named by the ARN of its secret. */
export const secretSettings = [
  ...["AUTHENTICATION", "SECRETS_KEY", "SIGNING_KEY", "SOURCE_SECRETS", "GITHUB_SECRETS", "GITLAB_SECRETS"],
  ...["REPOSITORY_TOKENS", "ADMISSION_TOKEN"],
];
