#!/bin/sh
# The original's `skill.sh rrd "<topic>"` is `research-ralph new "<topic>"`.
if [ "$1" != rrd ] || [ -z "$2" ]; then
  echo 'usage: skill.sh rrd "<topic>" [options of research-ralph new]' >&2
  exit 2
fi
shift
self=$0
while [ -h "$self" ]; do
  link=$(readlink "$self")
  case $link in /*) self=$link ;; *) self=$(dirname "$self")/$link ;; esac
done
exec node "$(dirname "$self")/../dist/cli.js" new "$@"
