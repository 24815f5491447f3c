# What makes it compile: the bucket reports through EventBridge and a queue which source was written, and a schedule asks every ten minutes.
# Slices have a queue of their own.

locals {
  queues = merge(
    { recompile = aws_sqs_queue.recompile, dead-letters = aws_sqs_queue.dead_letters },
    { for queue in aws_sqs_queue.slices : "slices" => queue },
    { for queue in aws_sqs_queue.slice_dead_letters : "slice-dead-letters" => queue },
  )
  schedules = merge(
    {
      every-ten-minutes = {
        description = "Compiles what a lost request would have asked for"
        schedule    = "rate(10 minutes)"
        function    = "compile"
      }
    },
    var.garbage ? {
      every-day = {
        description = "Deletes objects that nothing names any more"
        schedule    = "cron(17 3 * * ? *)"
        function    = "garbage"
      }
    } : {},
  )
}

resource "aws_sqs_queue" "dead_letters" {
  name_prefix             = "${var.name}-dead-letters-"
  sqs_managed_sse_enabled = true
}

resource "aws_sqs_queue" "recompile" {
  name_prefix                = "${var.name}-recompile-"
  sqs_managed_sse_enabled    = true
  visibility_timeout_seconds = 1800
  redrive_policy             = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead_letters.arn, maxReceiveCount = 5 })
}

resource "aws_sqs_queue" "slice_dead_letters" {
  count                   = local.slices ? 1 : 0
  name_prefix             = "${var.name}-slice-dead-letters-"
  sqs_managed_sse_enabled = true
}

resource "aws_sqs_queue" "slices" {
  count                   = local.slices ? 1 : 0
  name_prefix             = "${var.name}-slices-"
  sqs_managed_sse_enabled = true
  # Longer than the function may take, and shorter than a second try is waited for.
  visibility_timeout_seconds = 90
  message_retention_seconds  = 3600
  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.slice_dead_letters[0].arn
    maxReceiveCount     = 3
  })
}

resource "aws_sqs_queue_policy" "queue" {
  for_each  = local.queues
  queue_url = each.value.url

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          Effect    = "Deny"
          Principal = { AWS = "*" }
          Action    = "sqs:*"
          Resource  = each.value.arn
          Condition = { Bool = { "aws:SecureTransport" = "false" } }
        }
      ],
      each.key == "recompile" ? [
        {
          Effect    = "Allow"
          Principal = { Service = "events.amazonaws.com" }
          Action    = local.send
          Resource  = each.value.arn
          Condition = { ArnEquals = { "aws:SourceArn" = aws_cloudwatch_event_rule.source_written.arn } }
        }
      ] : [],
    )
  })
}

# A batch of messages is one compile.
resource "aws_lambda_event_source_mapping" "recompile" {
  event_source_arn                   = aws_sqs_queue.recompile.arn
  function_name                      = aws_lambda_function.function["compile"].function_name
  batch_size                         = 1000
  maximum_batching_window_in_seconds = 1
}

resource "aws_lambda_event_source_mapping" "slices" {
  count                   = local.slices ? 1 : 0
  event_source_arn        = aws_sqs_queue.slices[0].arn
  function_name           = aws_lambda_function.function["slice"].function_name
  batch_size              = 1
  function_response_types = ["ReportBatchItemFailures"]

  scaling_config {
    maximum_concurrency = 20
  }
}

resource "aws_cloudwatch_event_rule" "source_written" {
  name_prefix = "${var.name}-source-written-"
  description = "A source of Portolan's was written"

  event_pattern = jsonencode({
    source      = ["aws.s3"]
    detail-type = ["Object Created"]
    detail = {
      bucket = { name = [aws_s3_bucket.snapshots.id] }
      # The last objects that a write of a source puts; its parts are there before them.
      object = { key = [{ wildcard = "sources/*/list" }, { wildcard = "sources/*/head" }, { prefix = "wanted/" }] }
    }
  })
}

resource "aws_cloudwatch_event_target" "source_written" {
  rule = aws_cloudwatch_event_rule.source_written.name
  arn  = aws_sqs_queue.recompile.arn
}

resource "aws_cloudwatch_event_rule" "schedule" {
  for_each            = local.schedules
  name_prefix         = "${var.name}-${each.key}-"
  description         = each.value.description
  schedule_expression = each.value.schedule
}

resource "aws_cloudwatch_event_target" "schedule" {
  for_each = local.schedules
  rule     = aws_cloudwatch_event_rule.schedule[each.key].name
  arn      = aws_lambda_function.function[each.value.function].arn
}

resource "aws_lambda_permission" "schedule" {
  for_each      = local.schedules
  statement_id  = each.key
  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_function.function[each.value.function].function_name
  principal     = "events.amazonaws.com"
  source_arn    = aws_cloudwatch_event_rule.schedule[each.key].arn
}
