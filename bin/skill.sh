#!/bin/sh
# The original's `skill.sh rrd "<topic>"` is `research-ralph new "<topic>"`, and `skill.sh --list` lists the skills of the folder.
self=$0
while [ -h "$self" ]; do
  link=$(readlink "$self")
  case $link in /*) self=$link ;; *) self=$(dirname "$self")/$link ;; esac
done
program=$(dirname "$self")/../dist/cli.js
case $1 in
  --list) exec node "$program" skill ;;
  rrd) shift; exec node "$program" new "$@" ;;
  '' | -*) echo 'usage: skill.sh --list | skill.sh rrd "<topic>" [options of research-ralph new] | skill.sh <name> "<words>" [options of research-ralph skill]' >&2; exit 2 ;;
  *) exec node "$program" skill "$@" ;;
esac
