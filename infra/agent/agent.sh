#!/bin/sh
# Starts the agent in a pod: writes the bootstrap by the downward API's variables and files, in a process that is gone then, and follows.
# Arguments are those of `portolan agent`. PORTOLAN_SERVER is the front, for the agent and for what Envoy asks by itself. PORTOLAN_GATEWAY=true starts a gateway, PORTOLAN_CERTIFICATES=none a proxy without certificates.
set -eu
here=$(dirname "$0")
folder=/var/lib/portolan-agent
server=${PORTOLAN_SERVER:-http://127.0.0.1:8080}
set -- --dir "$folder" --server "$server" "$@"
gateway=
[ "${PORTOLAN_GATEWAY:-false}" = true ] && gateway=--gateway
node "$here/commands/index.mjs" bootstrap --this-pod $gateway --files "$folder" \
  --certificates "${PORTOLAN_CERTIFICATES:-none}" --server "$server" \
  --readiness-port 15021 --prometheus-port 15090 --stats-tags --json > "$folder/bootstrap.json.new"
mv "$folder/bootstrap.json.new" "$folder/bootstrap.json"
# shellcheck disable=SC2046 # Several words.
exec node $(cat "$here/node-flags") "$here/agent/index.mjs" agent --bootstrap "$folder/bootstrap.json" --status-port 15020 "$@"
