terraform {
  # The oldest release with `nullable`, `one` and validations that Terraform and OpenTofu share.
  required_version = ">= 1.6"

  required_providers {
    aws = {
      source = "hashicorp/aws"
      # `invoked_via_function_url` of aws_lambda_permission.
      version = "~> 6.45"
    }
    archive = {
      source  = "hashicorp/archive"
      version = "~> 2.7"
    }
    random = {
      source  = "hashicorp/random"
      version = "~> 3.7"
    }
  }
}
