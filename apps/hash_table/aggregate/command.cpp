// SPDX-License-Identifier: Apache-2.0
// Options and output of the command.

#include "apps/hash_table/aggregate/command.hpp"

#include "apps/hash_table/aggregate/groups.hpp"
#include "apps/support/command.hpp"
#include "apps/support/number_option.hpp"
#include "apps/support/output_file.hpp"
#include "apps/support/text_writer.hpp"

#include <warden/runtime.hpp>

#include <cstdio>
#include <filesystem>
#include <stdexcept>

namespace hash_table {

namespace {

/// Writes a field, quoted if it must be.
void write_field(apps::text_writer& to, std::string_view field) {
  if (field.find_first_of(",\"\r\n") == field.npos) {
    to << field;
    return;
  }
  to << '"';
  for (char const c : field) {
    if (c == '"') to << c;
    to << c;
  }
  to << '"';
}

void write_groups(apps::output_file& out, query const& q, groups const& all) {
  apps::text_writer to{out};
  char const* separator = "";
  auto const write = [&](std::string_view field) {
    to << separator;
    write_field(to, field);
    separator = ",";
  };
  auto const end_row = [&] {
    to.end_line();
    separator = "";
  };
  for (std::string const& title : q.key_titles) write(title);
  for (output_column const& column : q.outputs) write(column.title);
  end_row();
  std::vector<std::string_view> fields;
  for (group_keys::entry const* e : all.keys.entries()) {
    all.keys.split(e->first, fields);
    for (std::string_view const field : fields) write(field);
    for (output_column const& column : q.outputs) write(to_text(all.value(q, column, e->second)));
    end_row();
  }
  to.commit();
}

}  // namespace

CLI::App* add_aggregate(CLI::App& app, aggregate_options& o) {
  CLI::App* const command = app.add_subcommand(
      "aggregate", "sums and other aggregates of the rows of a CSV file that have equal keys");
  // Each option takes one column, so that FILE can follow it.
  auto const columns = [&](char const* name, std::vector<std::string>& to, char const* help) {
    return command->add_option(name, to, help)->type_name("COLUMN")->allow_extra_args(false);
  };
  command->add_option("FILE", o.file, "CSV file; an empty field is NULL")
      ->required()
      ->check(CLI::ExistingFile);
  columns("--key", o.keys,
          "column of the key: a name in the first row, or a number from 1; repeat for several")
      ->required();
  command->add_flag("--count", o.counts_rows, "number of rows");
  columns("--sum", o.sums, "sum; an error if 64 bits cannot hold it");
  columns("--sum128", o.wide_sums, "sum of 128 bits");
  columns("--min", o.minima, "smallest number");
  columns("--max", o.maxima, "largest number");
  columns("--mean", o.means, "mean");
  columns("--variance", o.variances, "sample variance; NULL for fewer than 2 numbers");
  columns("--real", o.reals,
          "the numbers of this column are floating-point; by default they are 64-bit integers");
  command->add_flag("--no-header", o.no_header, "the first row holds data; columns are numbers");
  command
      ->add_option("--memory", o.megabytes,
                   "memory for groups and rows, on the host and on the device each, in MiB")
      ->transform(apps::whole(16, 1u << 20))
      ->capture_default_str();
  command->add_option("--out", o.out, "CSV file to write; by default standard output")
      ->check(apps::file_name());
  command->add_flag("--check", o.checks, "compares with a sequential pass, before writing");
  return command;
}

int run_aggregate(aggregate_options const& o) {
  if (o.checks && !std::filesystem::is_regular_file(o.file)) {
    throw std::runtime_error{"--check: " + o.file +
                             " is read twice, so it must be a regular file, not a pipe"};
  }
  apps::output_file out{o.out};
  table_reader rows{o};
  groups const all{rows, o};
  query const& q = rows.columns();
  check_sums(q, all);
  if (std::string const wrong = o.checks ? difference_from_sequential(o, all) : "";
      !wrong.empty()) {
    std::fprintf(stderr, "hash_table: the check failed: %s\n", wrong.c_str());
    return 1;
  }
  write_groups(out, q, all);
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  std::printf("%llu rows, %u groups, in %zu MiB of device memory on %s\n",
              static_cast<unsigned long long>(all.rows), all.keys.size(),
              (all.device_bytes + mebibyte - 1) / mebibyte,
              warden::runtime::facts(warden::runtime::current_device()).name.c_str());
  if (o.checks) std::printf("equal to a sequential pass\n");
  return 0;
}

}  // namespace hash_table
