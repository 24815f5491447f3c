# What an operator is alerted to. An alarm is raised above `threshold`, which is 0 unless it stands there.

locals {
  alarms = merge(
    {
      compile-fails = {
        description = "A compile has failed; what was published goes on being served"
        function    = "compile"
        metric      = "Errors"
      }
      compile-stands = {
        description = "Nothing was compiled for half an hour, though a schedule asks every ten minutes"
        function    = "compile"
        metric      = "Invocations"
        period      = 1800
        threshold   = 1
        comparison  = "LessThanThreshold"
        missing     = "breaching"
      }
      compile-is-slow = {
        description = "A compile has taken four of its five minutes"
        function    = "compile"
        metric      = "Duration"
        statistic   = "Maximum"
        threshold   = 240000
      }
      messages-are-lost = {
        description = "Requests to compile have failed again and again"
        queue       = aws_sqs_queue.dead_letters.name
      }
      hooks-are-flooded = {
        description = "Requests to the compile function's address were turned away; the queue and the schedule go on"
        function    = "hooks"
        metric      = "Throttles"
      }
      hooks-are-refused = {
        description = "Many requests to the compile function's address were refused: a wrong secret, or somebody who tries"
        function    = "hooks"
        metric      = "Url4xxCount"
        threshold   = 100
      }
      front-fails = {
        description = "Polls have failed; Envoys keep what they have"
        function    = "front"
        metric      = "Url5xxCount"
        threshold   = 10
      }
      front-is-flooded = {
        description = "Polls were turned away for want of room"
        function    = "front"
        metric      = "Throttles"
      }
      front-refuses = {
        description = "Many polls were refused: nodes without a token that holds, or somebody who tries"
        function    = "front"
        metric      = "Url4xxCount"
        threshold   = 1000
      }
    },
    {
      for queue in aws_sqs_queue.slice_dead_letters : "slices-are-lost" => {
        description = "Slices of a compile have failed again and again, and the compile with them; what was published goes on being served"
        queue       = queue.name
      }
    },
    var.garbage ? {
      garbage-stays = {
        description = "Garbage could not be collected; everything is served as ever, and the bucket grows"
        function    = "garbage"
        metric      = "Errors"
      }
    } : {},
  )
}

resource "aws_sns_topic" "alarms" {
  name_prefix = "${var.name}-alarms-"
}

resource "aws_sns_topic_policy" "alarms" {
  arn = aws_sns_topic.alarms.arn

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "AllowPublishThroughSSLOnly"
        Effect    = "Deny"
        Principal = "*"
        Action    = "sns:Publish"
        Resource  = aws_sns_topic.alarms.arn
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      }
    ]
  })
}

resource "aws_cloudwatch_metric_alarm" "alarm" {
  for_each            = local.alarms
  alarm_name          = "${var.name}-${each.key}"
  alarm_description   = each.value.description
  alarm_actions       = [aws_sns_topic.alarms.arn]
  namespace           = can(each.value.queue) ? "AWS/SQS" : "AWS/Lambda"
  metric_name         = try(each.value.metric, "ApproximateNumberOfMessagesVisible")
  statistic           = try(each.value.statistic, can(each.value.queue) ? "Maximum" : "Sum")
  period              = try(each.value.period, 300)
  evaluation_periods  = 1
  threshold           = try(each.value.threshold, 0)
  comparison_operator = try(each.value.comparison, "GreaterThanThreshold")
  treat_missing_data  = try(each.value.missing, "notBreaching")

  dimensions = can(each.value.queue) ? { QueueName = each.value.queue } : {
    FunctionName = aws_lambda_function.function[each.value.function].function_name
  }
}
