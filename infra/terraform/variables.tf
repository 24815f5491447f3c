variable "name" {
  description = "Prefix of the names of everything that is made."
  type        = string
  default     = "portolan"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,15}$", var.name))
    error_message = "name must be 1 to 16 lower-case letters, digits and hyphens, and begin with a letter."
  }
}

variable "bundles" {
  description = "Folder of the built functions, as `npm --prefix infra run bundle` leaves it in dist/lambda."
  type        = string
}

variable "sources" {
  description = "Sources to compile, in order, the primary first."
  type        = list(string)
  default     = ["main"]

  validation {
    condition = (
      length(var.sources) > 0 && length(distinct(var.sources)) == length(var.sources) &&
      alltrue([for source in var.sources : can(regex("^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$", source))])
    )
    error_message = "sources must be different names of lower-case letters, digits, hyphens and dots, such as [\"main\", \"kubernetes\"]."
  }
}

variable "reserved_concurrency" {
  description = "Whether compile and garbage reserve executions. An account with a limit of 10 has none to reserve."
  type        = bool
  default     = true
}

variable "garbage" {
  description = "Whether a function deletes once a day what no snapshot names any more."
  type        = bool
  default     = true
}

variable "compile_settings" {
  description = "Settings of the functions that compile, and of garbage collection, by their names."
  type        = map(string)
  default     = {}

  validation {
    condition = alltrue([
      for name in keys(var.compile_settings) : startswith(name, "OTEL_") || contains([
        "PORTOLAN_ADMISSION_INJECTION", "PORTOLAN_ADMISSION_WORKLOADS", "PORTOLAN_ADMISSION_WORLD",
        "PORTOLAN_BINARY_FORMS", "PORTOLAN_CERTIFICATES", "PORTOLAN_COMPILE_SECONDS", "PORTOLAN_COMPILE_SLICES",
        "PORTOLAN_DEBOUNCE_MAX_MS", "PORTOLAN_DEBOUNCE_MS", "PORTOLAN_GC_KEEP", "PORTOLAN_LEASE_SECONDS",
        "PORTOLAN_LEGACY_API", "PORTOLAN_LEGACY_RELEASE", "PORTOLAN_POLL_DELAY_MS", "PORTOLAN_REPOSITORIES",
        "PORTOLAN_SECURITY_FAILURE", "PORTOLAN_TRUSTED_KEYS", "PORTOLAN_WEBHOOK_AUDIENCE",
      ], name)
    ])
    error_message = "compile_settings has a name that the compile function does not read. docs/deploy-aws.md lists them."
  }

  validation {
    condition     = can(tonumber(lookup(var.compile_settings, "PORTOLAN_COMPILE_SLICES", "1")))
    error_message = "PORTOLAN_COMPILE_SLICES of compile_settings must be a number, such as \"16\"."
  }
}

variable "front_settings" {
  description = "Settings of the front, by their names. Without PORTOLAN_AUTHENTICATION it answers 503."
  type        = map(string)
  default     = {}

  validation {
    condition = alltrue([
      for name in keys(var.front_settings) : contains([
        "PORTOLAN_AUTHENTICATION", "PORTOLAN_CA", "PORTOLAN_CA_MAX_HOURS", "PORTOLAN_CONFIRMATIONS",
        "PORTOLAN_STORE_COPY", "PORTOLAN_TRUSTED_KEYS", "PORTOLAN_WANTED",
      ], name)
    ])
    error_message = "front_settings has a name that the front does not read. docs/deploy-aws.md lists them."
  }

  validation {
    condition     = can(regex("^s3://[^/?]+", lookup(var.front_settings, "PORTOLAN_STORE_COPY", "s3://none")))
    error_message = "PORTOLAN_STORE_COPY of front_settings must name a bucket, such as \"s3://BUCKET/PREFIX?region=REGION\"."
  }
}

variable "secret_arns" {
  description = "By the name of a setting, the ARN of the secret in Secrets Manager that holds it."
  type        = map(string)
  default     = {}

  validation {
    condition = alltrue([
      for name in keys(var.secret_arns) : contains([
        "PORTOLAN_ADMISSION_TOKEN", "PORTOLAN_AUTHENTICATION", "PORTOLAN_GITHUB_SECRETS", "PORTOLAN_GITLAB_SECRETS", "PORTOLAN_REPOSITORY_TOKENS",
        "PORTOLAN_SECRETS_KEY", "PORTOLAN_SIGNING_KEY", "PORTOLAN_SOURCE_SECRETS",
      ], name)
    ])
    error_message = "secret_arns has a name that no function reads from a secret. docs/deploy-aws.md lists them."
  }
}

variable "secrets_writers" {
  description = "ARNs of the roles and users that store certificates. A key in KMS is made for them."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.secrets_writers : can(regex("^arn:[a-z-]+:iam::", arn))])
    error_message = "secrets_writers must be ARNs of roles or users, such as \"arn:aws:iam::123456789012:role/certificates\"."
  }
}

variable "ca_key_arn" {
  description = "ARN of the key in KMS that the CA was made with; the front may sign with it. Empty: the CA's key is sealed in the bucket."
  type        = string
  default     = ""

  validation {
    condition     = var.ca_key_arn == "" || can(regex("^arn:[a-z-]+:kms:[a-z0-9-]+:[0-9]+:key/", var.ca_key_arn))
    error_message = "ca_key_arn must be the ARN of a key, such as \"arn:aws:kms:eu-west-1:123456789012:key/ID\"."
  }
}
