# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./warden tune. Sourced by ./warden, whose functions it uses.

run_tune() {
  install=yes prebuilt=""
  local device=gpu suffix="" bin=build/bench/bin file=""
  while [ $# -gt 0 ]; do
    case $1 in
      --device|--prebuilt|--out)
        [ $# -ge 2 ] || usage_error "$1 needs a value"
        case $1 in
          --device) [[ $2 =~ ^(gpu|sim)$ ]] || usage_error "--device $2: gpu or sim"; device=$2 ;;
          --prebuilt) set_prebuilt "$2" ;;
          --out)
            file=$(of_caller "$2")
            [ -d "$(dirname "$file")" ] && [ ! -d "$file" ] || usage_error "--out $2: no file can be written there" ;;
        esac
        shift 2 ;;
      --no-install) install=no; shift ;;
      --help) help; exit 0 ;;
      *) usage_error "unknown option $1 for tune; see ./warden --help" ;;
    esac
  done
  if [ "$device" = sim ]; then
    suffix=_sim; say "The simulated device, as asked: it has no time, so all values are the usual ones."
  else
    have_gpu || setup_error "no CUDA GPU to measure; ./warden tune --device sim tries the program"
    [ -n "$prebuilt" ] || find_nvcc >/dev/null || setup_error "no nvcc; install the CUDA toolkit 12.0 or newer"
    say "GPU: $(gpu_names | head -1)"
  fi
  if [ -n "$prebuilt" ]; then
    bin=$prebuilt
    [ -x "$bin/tune$suffix" ] || usage_error "--prebuilt $prebuilt: no program tune$suffix there"
  else
    set_up "${bench_packages[@]}"
    configure build/bench -DWARDEN_BUILD_TESTS=OFF
    say "Building in build/bench ..."
    if ! logged build/bench/build.log cmake --build build/bench --target "tune$suffix"; then
      tail -30 build/bench/build.log >&2; exit 1
    fi
  fi
  if [ -z "$file" ]; then
    mkdir -p build/results
    file=$PWD/build/results/tuning-$device.txt
  fi
  "$bin/tune$suffix" --out "$file" || exit
  say "Table: $file"
  say "Programs load it by warden::load_tuning, or by the environment variable WARDEN_TUNING."
}
