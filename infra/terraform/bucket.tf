# The bucket of the snapshots: private, encrypted, versioned, over TLS only.

resource "aws_s3_bucket" "snapshots" {
  bucket_prefix = "${var.name}-snapshots-"

  lifecycle {
    # It holds every snapshot. docs/deploy-aws.md says how the rest is removed without it.
    prevent_destroy = true
  }
}

resource "aws_s3_bucket_public_access_block" "snapshots" {
  bucket                  = aws_s3_bucket.snapshots.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_server_side_encryption_configuration" "snapshots" {
  bucket = aws_s3_bucket.snapshots.id

  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = "AES256"
    }
  }
}

resource "aws_s3_bucket_versioning" "snapshots" {
  bucket = aws_s3_bucket.snapshots.id

  versioning_configuration {
    status = "Enabled"
  }
}

# No rule ends a current version of what is published: the garbage function deletes it, since it knows what names it.
resource "aws_s3_bucket_lifecycle_configuration" "snapshots" {
  bucket = aws_s3_bucket.snapshots.id
  # Rules about old versions need versions.
  depends_on = [aws_s3_bucket_versioning.snapshots]

  rule {
    id     = "old-versions"
    status = "Enabled"

    filter {}

    noncurrent_version_expiration {
      noncurrent_days = 30
    }

    abort_incomplete_multipart_upload {
      days_after_initiation = 1
    }

    expiration {
      expired_object_delete_marker = true
    }
  }

  rule {
    id     = "deliveries"
    status = "Enabled"

    filter {
      prefix = "hooks/"
    }

    expiration {
      days = 7
    }
  }
}

resource "aws_s3_bucket_policy" "snapshots" {
  bucket     = aws_s3_bucket.snapshots.id
  depends_on = [aws_s3_bucket_public_access_block.snapshots]

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect    = "Deny"
        Principal = { AWS = "*" }
        Action    = "s3:*"
        Resource  = [aws_s3_bucket.snapshots.arn, "${aws_s3_bucket.snapshots.arn}/*"]
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
      {
        # Every write of a HEAD states what it replaces. The parts of an upload cannot; its completion can.
        Effect    = "Deny"
        Principal = { AWS = "*" }
        Action    = "s3:PutObject"
        Resource  = ["${aws_s3_bucket.snapshots.arn}/HEAD", "${aws_s3_bucket.snapshots.arn}/*/HEAD"]
        Condition = {
          Null = { "s3:if-match" = "true", "s3:if-none-match" = "true" }
          Bool = { "s3:ObjectCreationOperation" = "true" }
        }
      },
    ]
  })
}

resource "aws_s3_bucket_notification" "snapshots" {
  bucket      = aws_s3_bucket.snapshots.id
  eventbridge = true
}
