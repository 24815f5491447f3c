output "front_url" {
  description = "Where Envoys poll."
  value       = aws_lambda_function_url.function["front"].function_url
}

output "compile_url" {
  description = "Where `portolan push` and webhooks are taken."
  value       = aws_lambda_function_url.function["hooks"].function_url
}

output "bucket_name" {
  description = "Bucket of the snapshots."
  value       = aws_s3_bucket.snapshots.id
}

output "recompile_queue_url" {
  description = "Queue whose messages make it compile."
  value       = aws_sqs_queue.recompile.url
}

output "recompile_secret_arn" {
  description = "Secret in Secrets Manager that `portolan push` signs with."
  value       = aws_secretsmanager_secret.recompile.arn
}

output "alarms_topic_arn" {
  description = "Topic of the alarms: subscribe an address to it."
  value       = aws_sns_topic.alarms.arn
}

output "secrets_key_setting" {
  description = "PORTOLAN_SECRETS_KEY for the writers of secrets; null without secrets_writers."
  value       = one([for key in aws_kms_key.secrets : "aws-kms:${key.arn}"])
}
