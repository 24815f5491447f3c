# The front, the compile function twice, garbage collection and, where asked for, slices. Requests from outside reach `hooks`, which has the
# code of `compile` and concurrency of its own: they cannot keep the queue and the schedule from compiling.

locals {
  slices = tonumber(lookup(var.compile_settings, "PORTOLAN_COMPILE_SLICES", "1")) > 1
  names  = toset(concat(["front", "compile", "hooks"], var.garbage ? ["garbage"] : [], local.slices ? ["slice"] : []))

  # Values of secrets, by the name of the setting; absent where no secret is named.
  secrets = { for name, version in data.aws_secretsmanager_secret_version.setting : name => version.secret_string }
  signing = { for name, value in local.secrets : name => value if name == "PORTOLAN_SIGNING_KEY" }

  store = { PORTOLAN_BUCKET = aws_s3_bucket.snapshots.id }
  compile_environment = merge(
    var.compile_settings,
    local.signing,
    { for queue in aws_sqs_queue.slices : "PORTOLAN_SLICE_QUEUE_URL" => queue.url },
    local.store,
    { PORTOLAN_SOURCES = join(",", var.sources) },
  )
  # The first key wraps; what another has wrapped is opened until `portolan secret rewrap`.
  secrets_keys = concat(
    [for key in aws_kms_key.secrets : "aws-kms:${key.arn}"],
    [for name, value in local.secrets : value if name == "PORTOLAN_SECRETS_KEY"],
  )

  # Memory in MB, timeout in seconds; -1 reserves no executions.
  functions = {
    front = {
      code     = "front"
      memory   = 512
      timeout  = 60
      reserved = -1
      environment = merge(
        var.front_settings,
        { for name, value in local.secrets : name => value if name == "PORTOLAN_AUTHENTICATION" },
        local.serves_secrets ? { PORTOLAN_SECRETS_KEY = join(" ", local.secrets_keys) } : {},
        local.store,
      )
    }
    # A second compile at a time would only lose the race for HEAD.
    compile = { code = "compile", memory = 2048, timeout = 300, reserved = 1, environment = local.compile_environment }
    hooks = {
      code     = "compile"
      memory   = 2048
      timeout  = 300
      reserved = 2
      environment = merge(
        local.compile_environment,
        { PORTOLAN_WEBHOOK_SECRET = data.aws_secretsmanager_secret_version.recompile.secret_string },
        {
          for name, value in local.secrets : name => value if contains([
            "PORTOLAN_ADMISSION_TOKEN", "PORTOLAN_GITHUB_SECRETS", "PORTOLAN_GITLAB_SECRETS",
            "PORTOLAN_REPOSITORY_TOKENS", "PORTOLAN_SOURCE_SECRETS",
          ], name)
        },
      )
    }
    slice = { code = "slice", memory = 1024, timeout = 80, reserved = -1, environment = local.store }
    garbage = {
      code     = "garbage"
      memory   = 1024
      timeout  = 900
      reserved = 1
      environment = merge(
        # It moves HEAD, so it signs it.
        local.signing,
        {
          for name, value in var.compile_settings : name => value
          if contains(["PORTOLAN_TRUSTED_KEYS", "PORTOLAN_GC_KEEP"], name)
        },
        local.store,
      )
    }
  }
}

data "archive_file" "code" {
  for_each    = toset([for name in local.names : local.functions[name].code])
  type        = "zip"
  source_dir  = "${var.bundles}/${each.key}"
  output_path = "${var.bundles}/${each.key}.zip"
}

resource "aws_cloudwatch_log_group" "function" {
  for_each          = local.names
  name_prefix       = "/aws/lambda/${var.name}-${each.key}-"
  retention_in_days = 30
}

resource "aws_lambda_function" "function" {
  for_each                       = local.names
  function_name                  = "${var.name}-${each.key}"
  role                           = aws_iam_role.function[each.key].arn
  runtime                        = "nodejs22.x"
  architectures                  = ["arm64"]
  handler                        = "index.handler"
  filename                       = data.archive_file.code[local.functions[each.key].code].output_path
  source_code_hash               = data.archive_file.code[local.functions[each.key].code].output_base64sha256
  memory_size                    = local.functions[each.key].memory
  timeout                        = local.functions[each.key].timeout
  reserved_concurrent_executions = var.reserved_concurrency ? local.functions[each.key].reserved : -1
  depends_on                     = [aws_iam_role_policy.function, aws_iam_role_policy_attachment.function]

  environment {
    variables = local.functions[each.key].environment
  }

  # Lambda's own lines for each invocation would cost half as much as the polls; what fails is still logged.
  logging_config {
    log_group             = aws_cloudwatch_log_group.function[each.key].name
    log_format            = "JSON"
    application_log_level = "INFO"
    system_log_level      = "WARN"
  }
}

# Nodes and webhooks bring their own credentials; both functions check them. The front streams: answers may be larger than 6 MB.
resource "aws_lambda_function_url" "function" {
  for_each           = { front = "RESPONSE_STREAM", hooks = "BUFFERED" }
  function_name      = aws_lambda_function.function[each.key].function_name
  authorization_type = "NONE"
  invoke_mode        = each.value
}

resource "aws_lambda_permission" "url" {
  for_each               = aws_lambda_function_url.function
  statement_id           = "url"
  action                 = "lambda:InvokeFunctionUrl"
  function_name          = aws_lambda_function.function[each.key].function_name
  principal              = "*"
  function_url_auth_type = "NONE"
}

resource "aws_lambda_permission" "invoked_via_url" {
  for_each                 = aws_lambda_function_url.function
  statement_id             = "invoked-via-url"
  action                   = "lambda:InvokeFunction"
  function_name            = aws_lambda_function.function[each.key].function_name
  principal                = "*"
  invoked_via_function_url = true
}
