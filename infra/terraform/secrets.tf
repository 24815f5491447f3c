# The webhook secret, settings that stand in Secrets Manager, and the key that wraps the secrets that Portolan serves.

resource "random_password" "recompile" {
  length  = 48
  special = false
}

resource "aws_secretsmanager_secret" "recompile" {
  name_prefix = "${var.name}-recompile-"
  description = "Shared with whoever may ask Portolan to compile"
}

resource "aws_secretsmanager_secret_version" "recompile" {
  secret_id     = aws_secretsmanager_secret.recompile.id
  secret_string = random_password.recompile.result

  lifecycle {
    # `aws secretsmanager put-secret-value` replaces it, and the next apply hands the current version to the function.
    ignore_changes = [secret_string, version_stages]
  }
}

data "aws_secretsmanager_secret_version" "recompile" {
  secret_id  = aws_secretsmanager_secret.recompile.id
  depends_on = [aws_secretsmanager_secret_version.recompile]
}

data "aws_secretsmanager_secret_version" "setting" {
  for_each  = var.secret_arns
  secret_id = each.value
}

# The account may keep the key, and not use it; the front decrypts, the writers encrypt, both in the encryption context of secrets alone.
resource "aws_kms_key" "secrets" {
  count               = length(var.secrets_writers) > 0 ? 1 : 0
  description         = "Wraps the keys of the secrets that Portolan serves"
  enable_key_rotation = true

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect = "Allow"
        Principal = {
          AWS = "arn:${data.aws_partition.current.partition}:iam::${data.aws_caller_identity.current.account_id}:root"
        }
        Action = [
          "kms:CancelKeyDeletion",
          "kms:CreateAlias",
          "kms:Delete*",
          "kms:Describe*",
          "kms:Disable*",
          "kms:Enable*",
          "kms:Get*",
          "kms:List*",
          "kms:Put*",
          "kms:Revoke*",
          "kms:RotateKeyOnDemand",
          "kms:ScheduleKeyDeletion",
          "kms:TagResource",
          "kms:UntagResource",
          "kms:Update*",
        ]
        Resource = "*"
      },
      {
        Effect    = "Allow"
        Principal = { AWS = aws_iam_role.function["front"].arn }
        Action    = "kms:Decrypt"
        Resource  = "*"
        Condition = { StringEquals = { "kms:EncryptionContext:portolan" = "secret" } }
      },
      {
        Effect    = "Allow"
        Principal = { AWS = var.secrets_writers }
        Action    = "kms:Encrypt"
        Resource  = "*"
        Condition = { StringEquals = { "kms:EncryptionContext:portolan" = "secret" } }
      },
    ]
  })

  lifecycle {
    # Without it what it has wrapped cannot be opened any more.
    prevent_destroy = true
  }
}
