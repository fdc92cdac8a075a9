# shellcheck shell=bash
# Shared by the stages of tools/ci. Each stage is a bash script that can be run by hand:
#   tools/ci/asan
# Results go to $GPUSIGHT_CI_RESULTS (default build/ci): NAME.xml of CTest, NAME.count "P F S".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

RESULTS=${GPUSIGHT_CI_RESULTS:-$PWD/build/ci}
mkdir -p "$RESULTS"

# How CTest is told to keep all that tests say: tools/ci/tally counts the cases from it.
ctest_record() { echo "--output-junit $RESULTS/$1.xml --test-output-size-passed 4000000 --test-output-size-failed 4000000"; }

# run_ctest NAME BUILD_DIR ARGUMENT...
run_ctest() {
  local name=$1 build=$2
  shift 2
  # shellcheck disable=SC2046
  ctest --test-dir "$build" --output-on-failure --no-tests=error $(ctest_record "$name") "$@"
}

# one NAME COMMAND...: a check that passes or fails as a whole.
one() {
  local name=$1
  shift
  echo "-- $name"
  if "$@"; then echo "1 0 0" > "$RESULTS/$name.count"; else echo "0 1 0" > "$RESULTS/$name.count"; return 1; fi
}

skip() { echo "-- $1: skipped: $2"; echo "0 0 1" > "$RESULTS/$1.count"; }
