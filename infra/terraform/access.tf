# What each function may do: on the keys of the bucket that it needs, and on no others. The same as infra/access.mjs.

locals {
  serves_secrets = length(var.secrets_writers) > 0 || contains(keys(var.secret_arns), "PORTOLAN_SECRETS_KEY")
  wanted         = lookup(var.front_settings, "PORTOLAN_WANTED", "") == "true"
  confirmations  = lookup(var.front_settings, "PORTOLAN_CONFIRMATIONS", "") == "store"

  collected_keys = [
    "analysis/*", "blobs/*", "compile/slices/*", "confirmed/*", "heads/*", "hooks/*", "packs/*", "sources/*", "status/*",
  ]
  compile_objects = [
    {
      actions = ["GetObject", "PutObject"]
      keys    = ["HEAD", "analysis/*", "blobs/*", "compile/*", "gc/*", "heads/*", "hooks/*", "packs/*", "sources/*"]
    },
    { actions = ["GetObject"], keys = ["registered/*", "wanted/*"] },
    { actions = ["DeleteObject"], keys = ["hooks/*", "registered/*", "sources/*", "wanted/*", "compile/slices/*"] },
  ]

  # Actions on objects of the bucket, by function.
  objects = {
    front = concat(
      [{ actions = ["GetObject"], keys = concat(["HEAD", "analysis/*", "blobs/*", "packs/*"], local.serves_secrets ? ["secrets/*"] : []) }],
      local.wanted ? [{ actions = ["PutObject"], keys = ["wanted/*"] }] : [],
      local.confirmations ? [{ actions = ["GetObject", "PutObject"], keys = ["confirmed/*"] }] : [],
    )
    compile = local.compile_objects
    hooks   = local.compile_objects
    slice = [
      { actions = ["GetObject"], keys = ["HEAD", "blobs/*", "compile/slices/*", "gc/*", "sources/*"] },
      { actions = ["PutObject"], keys = ["blobs/*", "compile/slices/*", "gc/*"] },
    ]
    garbage = [
      { actions = ["GetObject", "PutObject"], keys = concat(["HEAD", "gc/*"], local.collected_keys) },
      { actions = ["DeleteObject"], keys = local.collected_keys },
    ]
  }

  # Without it S3 answers 403 for an object that is absent.
  list    = [{ Effect = "Allow", Action = ["s3:ListBucket"], Resource = [aws_s3_bucket.snapshots.arn] }]
  receive = ["sqs:ReceiveMessage", "sqs:ChangeMessageVisibility", "sqs:GetQueueUrl", "sqs:DeleteMessage", "sqs:GetQueueAttributes"]
  send    = ["sqs:SendMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl"]
  send_slices = [
    for queue in aws_sqs_queue.slices : { Effect = "Allow", Action = local.send, Resource = [queue.arn] }
  ]

  # A copy of the bucket in another region, which the front may read.
  copies = [
    for place in compact([lookup(var.front_settings, "PORTOLAN_STORE_COPY", "")]) :
    regex("^s3://(?P<bucket>[^/?]+)/?(?P<prefix>[^?]*)", place)
  ]
  read_copy = [
    for copy in local.copies : {
      Effect = "Allow"
      Action = ["s3:GetObject"]
      Resource = [
        for key in concat(["HEAD", "blobs/*"], local.serves_secrets ? ["secrets/*"] : []) : join("/", compact([
          "arn:${data.aws_partition.current.partition}:s3:::${copy.bucket}", trim(copy.prefix, "/"), key,
        ]))
      ]
    }
  ]

  # The key that KMS keeps for the CA.
  sign_certificates = [
    for arn in compact([var.ca_key_arn]) : { Effect = "Allow", Action = ["kms:Sign"], Resource = [arn] }
  ]

  # Everything else, by function.
  others = {
    front = concat(local.serves_secrets || local.wanted || local.confirmations ? local.list : [], local.read_copy, local.sign_certificates)
    compile = concat(
      local.list,
      [{ Effect = "Allow", Action = local.receive, Resource = [aws_sqs_queue.recompile.arn] }],
      local.send_slices,
    )
    hooks = concat(local.list, local.send_slices)
    slice = concat(local.list, [
      for queue in aws_sqs_queue.slices : { Effect = "Allow", Action = local.receive, Resource = [queue.arn] }
    ])
    garbage = local.list
  }
}

data "aws_partition" "current" {}

data "aws_caller_identity" "current" {}

resource "aws_iam_role" "function" {
  for_each    = local.names
  name_prefix = "${var.name}-${each.key}-"

  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Principal = { Service = "lambda.amazonaws.com" }, Action = "sts:AssumeRole" }]
  })
}

# Writes logs.
resource "aws_iam_role_policy_attachment" "function" {
  for_each   = local.names
  role       = aws_iam_role.function[each.key].name
  policy_arn = "arn:${data.aws_partition.current.partition}:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
}

resource "aws_iam_role_policy" "function" {
  for_each = local.names
  name     = "portolan"
  role     = aws_iam_role.function[each.key].name

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        for allowed in local.objects[each.key] : {
          Effect   = "Allow"
          Action   = [for action in allowed.actions : "s3:${action}"]
          Resource = [for key in allowed.keys : "${aws_s3_bucket.snapshots.arn}/${key}"]
        }
      ],
      local.others[each.key],
    )
  })
}
