#!/usr/bin/env bash
# Installs what some tests need beside Python, from Debian's packages: tests/debian.sh slurm | chromium
# Where that is impossible the tests are skipped and say why.
set -u
case ${1:-} in
  slurm) commands="sbatch slurmctld" packages="slurmctld slurmd slurm-client munge" ;;
  chromium) commands="chromium" packages="chromium" ;;
  *) echo "tests/debian.sh slurm | chromium" && exit 2 ;;
esac
export PATH=$PATH:/usr/sbin
missing=0
for command in $commands; do command -v "$command" >/dev/null || missing=1; done
[ $missing -eq 0 ] && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "$1 cannot be installed here: it takes root and apt-get"
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
# No daemon of the packages is to start by itself: the tests start their own.
policy=/usr/sbin/policy-rc.d
[ -e $policy ] || { printf '#!/bin/sh\nexit 101\n' >$policy && chmod +x $policy && trap 'rm -f '$policy EXIT; }
{ apt-get update -qq && apt-get install -qq -y --no-install-recommends $packages; } >/dev/null 2>&1 ||
  echo "$1 could not be installed: apt-get install $packages failed"
