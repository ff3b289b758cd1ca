#!/bin/sh
# The original's name for research-ralph, so that scripts written for it keep running. The old spelling is understood.
self=$0
while [ -h "$self" ]; do
  link=$(readlink "$self")
  case $link in /*) self=$link ;; *) self=$(dirname "$self")/$link ;; esac
done
exec node "$(dirname "$self")/../dist/cli.js" "$@"
