# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./warden bench. Sourced by ./warden, whose functions it uses.

# on_results OPTION LEAST FILES...: calls scripts/results with result files.
on_results() {
  local option=$1 least=$2 files=() file
  shift 2
  [ "${1:-}" = --help ] && { help; exit 0; }
  [ $# -ge "$least" ] || usage_error "$option needs $([ "$least" = 1 ] && printf 'one file' || printf '%s files or more' "$least")"
  for file in "$@"; do files+=("$(of_caller "$file")"); done
  have_python || setup_error "$option needs python3, 3.10 or newer"
  exec python3 scripts/results "$option" "${files[@]}"
}

benchmarks=(contention hash_table bank_transfer spanning_forest max_flow breadth_first shortest_paths matrix_factorization allocation transport producer_warp sparse_product transactions)

# program_of BENCHMARK: prints its program's name; uses run_bench's variables.
program_of() {
  case $1 in
    contention) if [ $few_arms = yes ]; then printf contention_default; else printf contention; fi ;;
    allocation|transport|producer_warp|sparse_product) printf '%s' "$1" ;;
    *) printf '%s_bench' "$1" ;;
  esac
}

# has_target PROGRAM: true if the build makes it. Programs of several GPUs need NCCL.
has_target() { grep -q "^build $1: phony" build/bench/build.ninja; }

# build_benchmarks PROGRAM...: configures and builds in build/bench, without programs that the build
# does not have. Sets bin.
build_benchmarks() {
  local program targets=()
  set_up "${bench_packages[@]}"
  configure build/bench -DWARDEN_BUILD_TESTS=OFF
  say "Building in build/bench ..."
  for program in "$@"; do ! has_target "$program" || targets+=("$program"); done
  if ! logged build/bench/build.log cmake --build build/bench --target "${targets[@]}"; then
    tail -30 build/bench/build.log >&2; exit 1
  fi
  bin=build/bench/bin
}

# run_all FOLDER OPTIONS...: runs the pieces of all benchmarks; uses run_bench's variables.
run_all() {
  local folder=$1 bin=$prebuilt name programs; shift
  have_python || setup_error "--all needs python3, 3.10 or newer"
  if [ "$device" = gpu ]; then
    while read -r name; do set -- "$@" --gpu "$name"; done < <(gpu_names | sed 's/, *[0-9.]*$//')
  fi
  if [ -z "$bin" ]; then
    mapfile -t programs < <(python3 scripts/bench_all.py --programs "$@")
    build_benchmarks "${programs[@]}"
  fi
  exec python3 scripts/bench_all.py --bin "$bin" --folder "$folder" "$@"
}

run_bench() {
  install=yes prebuilt=""
  local device="" chosen=() pass=() both=() of_all=() all=no few_arms=yes out="" shown="" file code=0
  local numbers='^[1-9][0-9]*(,[1-9][0-9]*)*$' names='^[a-z][a-z0-9_]*(,[a-z][a-z0-9_]*)*$'
  while [ $# -gt 0 ]; do
    case $1 in
      --merge) shift; on_results --merge 2 "$@" ;;
      --check-baselines)
        [ $# -le 2 ] || usage_error "--check-baselines takes one file"
        shift; on_results --check-baselines 1 "$@" ;;
      --device|--prebuilt|--keys|--arms|--operation|--workload|--ops|--repetitions|--ids|--out|--limit|--benchmark_filter)
        [ $# -ge 2 ] || usage_error "$1 needs a value"
        case $1 in
          --device) [[ $2 =~ ^(gpu|sim)$ ]] || usage_error "--device $2: gpu or sim"; device=$2 ;;
          --prebuilt) set_prebuilt "$2" ;;
          --ids)
            file=$(of_caller "$2")
            # Read once for each operation: a pipe would be empty the second time.
            [ -f "$file" ] && [ -r "$file" ] || usage_error "--ids $2: no file that can be read"
            pass+=(--ids "$(readlink -f "$file")") ;;
          --out)
            shown=$2 out=$(of_caller "$2") ;;
          --limit) [[ $2 =~ ^[1-9][0-9]{0,4}$ ]] || usage_error "--limit $2: seconds from 1 to 99999"; of_all+=("$1" "$2") ;;
          --benchmark_filter) pass+=("--benchmark_filter=$2") ;;
          # The programs know the names and limits; values that cannot be valid are refused before
          # anything is built.
          --keys) [[ $2 =~ $numbers ]] || usage_error "$1 $2: numbers from 1 on, separated by commas"; pass+=("$1" "$2") ;;
          --ops|--repetitions) [[ $2 =~ ^[1-9][0-9]*$ ]] || usage_error "$1 $2: a number from 1 on"; both+=("$1" "$2") ;;
          *)
            [[ $2 =~ $names ]] || usage_error "$1 $2: names separated by commas"
            # They may be names that contention_default lacks.
            pass+=("$1" "$2") few_arms=no ;;
        esac
        shift 2 ;;
      --all) all=yes; shift ;;
      --quick) of_all+=("$1"); shift ;;
      --no-install) install=no; shift ;;
      --help) help; exit 0 ;;
      -*) usage_error "unknown option $1 for bench; see ./warden --help" ;;
      *)
        [[ $1 != *' '* && " ${benchmarks[*]} " == *" $1 "* ]] || usage_error "unknown benchmark $1; there are ${benchmarks[*]}"
        chosen+=("$1"); shift ;;
    esac
  done
  if [ $all = yes ]; then
    [ ${#chosen[@]} = 0 ] || usage_error "--all runs every benchmark; leave out ${chosen[0]}"
    [ ${#both[@]} = 0 ] || usage_error "--all has its own ${both[0]}; leave it out"
  else
    [ ${#of_all[@]} = 0 ] || usage_error "${of_all[0]} is an option of --all"
    [ ${#chosen[@]} != 0 ] || chosen=(contention)
  fi
  if [ ${#chosen[@]} != 1 ]; then
    [ ${#pass[@]} = 0 ] || usage_error "${pass[0]%%=*} is an option of one benchmark; name one"
    [ -z "$out" ] || [ $all = yes ] || usage_error "--out $shown: the file of one benchmark; name one"
  fi
  if [ -n "$out" ] && [ $all = yes ]; then
    [ -d "$(dirname "$out")" ] && [ ! -f "$out" ] || usage_error "--out $shown: no folder can be made there"
  elif [ -n "$out" ]; then
    [ -d "$(dirname "$out")" ] && [ ! -d "$out" ] || usage_error "--out $shown: no file can be written there"
  fi
  # The first line says what runs on which device.
  if [ "$device" = sim ]; then
    say "The simulated device, as asked: smaller sizes; counts, not times."
  elif have_gpu; then
    if [ -z "$prebuilt" ] && ! find_nvcc >/dev/null; then
      say "There is a GPU ($(gpu_names | head -1)), but no nvcc to build for it."
      setup_error "install the CUDA toolkit 12.0 or newer, or run ./warden bench --device sim"
    fi
    device=gpu; say "GPU: $(gpu_names | head -1)"
  elif [ "$device" = gpu ]; then
    setup_error "no CUDA GPU; ./warden bench --device sim runs on the simulated device"
  else
    device=sim; say "No CUDA GPU: running on the simulated device with smaller sizes; counts, not times."
  fi
  [ $all = no ] || run_all "${out:-build/results/all-$device}" "${of_all[@]}"
  local suffix="" bin benchmark programs=()
  [ "$device" = sim ] && suffix=_sim
  if [ -n "$prebuilt" ]; then
    bin=$prebuilt few_arms=no
    [ ${#chosen[@]} != 1 ] || [ -x "$bin/$(program_of "${chosen[0]}")$suffix" ] ||
      usage_error "--prebuilt $prebuilt: no program $(program_of "${chosen[0]}")$suffix there"
  else
    for benchmark in "${chosen[@]}"; do programs+=("$(program_of "$benchmark")$suffix"); done
    build_benchmarks "${programs[@]}"
  fi
  # The program ends by itself when interrupted; this shell stays to print what it finished.
  trap : INT
  local measured=()
  for benchmark in "${chosen[@]}"; do
    [ $code = 0 ] || break
    if [ ! -x "$bin/$(program_of "$benchmark")$suffix" ]; then
      say "Not run: no program $(program_of "$benchmark")$suffix in $bin."
      continue
    fi
    measure "$benchmark" "${pass[@]}" "${both[@]}"
  done
  # Last, where they are read: the arms to take, and a summary.
  if [ ${#measured[@]} != 0 ]; then
    python3 scripts/results --choice "${measured[@]}" || code=$((code == 0 ? 1 : code))
    python3 scripts/results --summary "${measured[@]}" || code=$((code == 0 ? 1 : code))
  fi
  exit $code
}

# measure BENCHMARK OPTIONS...: runs it, prints its tables and the place of its file. Sets `code`,
# appends to `measured`; uses run_bench's variables.
measure() {
  local benchmark=$1 file=$out shown=$shown before; shift
  if [ -z "$file" ]; then
    mkdir -p build/results
    file=build/results/$benchmark-$device.json
    shown=$file
    [ "$caller" = "$PWD" ] || shown=$PWD/$file
  fi
  before=$(state_of "$file")
  "$bin/$(program_of "$benchmark")$suffix" "$@" "--benchmark_out=$file" --benchmark_out_format=json --quiet
  code=$?
  # After an error before the first row, the file is that of an earlier execution.
  [ -s "$file" ] && [ "$(state_of "$file")" != "$before" ] || { code=$((code == 0 ? 1 : code)); return; }
  if have_python; then
    if python3 scripts/results --tables "$file"; then measured+=("$file"); else code=$((code == 0 ? 1 : code)); fi
  else
    say "No python3 (3.10 or newer) to print a table with."
  fi
  say "JSON: $shown"
}
