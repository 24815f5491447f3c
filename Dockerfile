# `portolan serve` as a container, from a fresh clone: docker build -t portolan:0.2.0 .
# Distroless, as nobody, on a root that may be read-only. Both images are on public registries; name mirrors of them with --build-arg.
ARG NODE=docker.io/library/node:24-bookworm-slim
ARG BASE=gcr.io/distroless/nodejs24-debian12:nonroot

FROM ${NODE} AS packed
WORKDIR /source
# What .dockerignore lets through: what the package is made of, and nothing else.
COPY . .
RUN npm ci --no-audit --no-fund
RUN mkdir /packed && npm pack --pack-destination /packed

FROM ${NODE} AS installed
WORKDIR /portolan
COPY --from=packed /packed /packed
# The second line is what stores of Google's and Azure's clouds need besides.
RUN npm install --no-audit --no-fund --ignore-scripts /packed/portolan-*.tgz \
  google-auth-library@11.3.4 @azure/storage-blob@12.34.0 @azure/identity@4.14.1

FROM ${BASE}
COPY --from=installed /portolan /portolan
ENV NODE_ENV=production
USER 65532:65532
# For stores in a folder: a volume. With a bucket nothing is written.
WORKDIR /var/lib/portolan
ENTRYPOINT ["/nodejs/bin/node", "/portolan/node_modules/portolan/functions/portolan.mjs"]
CMD ["serve", "--settings", "/etc/portolan/portolan.yaml"]
