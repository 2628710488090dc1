#!/usr/bin/env bash
# Installs SLURM from Debian's packages where that is possible; the tests say why they are skipped where it is not.
set -u
command -v sbatch >/dev/null && PATH=$PATH:/usr/sbin command -v slurmctld >/dev/null && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "SLURM cannot be installed here: it takes root and apt-get"
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
packages="slurmctld slurmd slurm-client munge"
# No daemon of the packages is to start by itself: the tests start their own.
policy=/usr/sbin/policy-rc.d
[ -e $policy ] || { printf '#!/bin/sh\nexit 101\n' >$policy && chmod +x $policy && trap 'rm -f '$policy EXIT; }
{ apt-get update -qq && apt-get install -qq -y --no-install-recommends $packages; } >/dev/null 2>&1 ||
  echo "SLURM could not be installed: apt-get install $packages failed"
