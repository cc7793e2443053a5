// SPDX-License-Identifier: Apache-2.0
// Text of the report on a run, and the advice that it gives.

#include <warden/run_report.hpp>

#include <cstdio>

WARDEN_HOST_NAMESPACE_BEGIN

namespace {

std::string text_of(std::uint64_t count) { return std::to_string(count); }

std::string one_digit(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", value);
  return text;
}

double ratio(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}
std::string percent(std::uint64_t part, std::uint64_t all) {
  return one_digit(100 * ratio(part, all)) + " %";
}

std::string text_of(run_times const& t) {
  struct {
    char const* name;
    double microseconds;
  } const phases[] = {{"close", t.close}, {"sort", t.sort},         {"split", t.split},
                      {"run", t.run},     {"partials", t.partials}, {"open", t.open}};
  std::string text = one_digit(t.total()) + " us";
  char const* separator = ": ";
  for (auto const& [name, microseconds] : phases) {
    if (microseconds == 0) continue;
    text += std::string{separator} + name + " " + one_digit(microseconds);
    separator = ", ";
  }
  return text;
}

std::string text_of_partitions(run_report const& r) {
  std::string text = "partitions: " + text_of(r.partitions);
  if (r.split > 1)
    text += " (each of " + text_of(r.partitions / r.split) + " split by " + text_of(r.split) + ")";
  text += ", " + text_of(r.on_chip) + " on chip, " + text_of(r.in_memory) + " in memory, " +
          text_of(r.untouched) + " untouched; the largest has " +
          percent(r.largest_partition, r.sections_run) + " of the sections\n";
  if (r.hottest) {
    return text + "hottest record: " + text_of(r.hottest->id) + ", with about " +
           percent(r.hottest->sections, r.sections_run) + " of the sections\n";
  }
  return text + "hottest record: none has more than about " +
         percent(r.most_of_one_record, r.sections_run) + " of the sections\n";
}

// Returns advice about the record that delays the run, or an empty text if none does.
std::string advice_on_hot_record(run_report const& r, section_facts const& sections) {
  if (!r.hottest) return {};
  // One thread runs its sections, one after another, while the other partitions are done.
  bool const delays = r.hottest->sections > r.sections_run / 2 ||
                      r.hottest->sections > 2 * (r.sections_run / r.partitions);
  if (!delays) return {};
  std::string const fact = percent(r.hottest->sections, r.sections_run) +
                           " of the sections are for record " + text_of(r.hottest->id);
  if (sections.in_order)
    return fact + ", which runs them one after another: without an order they could combine";
  if (sections.combines)
    return fact + " although they combine: let each block send more before it flushes";
  if (sections.declines_combining) return fact + ": let the section not say combines = false";
  return fact + ": give the section a combine";
}

}  // namespace

std::string run_report::text() const {
  std::string all = "sections: " + text_of(sections) + " of at most " + text_of(room) + ", " +
                    text_of(flat) + " of them flat, the others in " + text_of(batches) +
                    " batches\n";
  if (combined_away != 0) {
    all += "combined away: " + text_of(combined_away) + " (" + percent(combined_away, sections) +
           "), which leaves " + text_of(sections_run) + "\n";
  }
  if (partitions != 0) all += text_of_partitions(*this);
  all += "time: " + text_of(microseconds) + "\n";
  for (std::string const& one : advice) all += "advice: " + one + "\n";
  return all;
}

void add_advice(run_report& r, section_facts const& sections) {
  if (r.sections == 0) {
    r.advice.push_back("the log was empty: send sections before the run");
    return;
  }
  if (std::string hot = advice_on_hot_record(r, sections); !hot.empty()) r.advice.push_back(hot);
  if (r.flat > r.sections / 2) {
    r.advice.push_back(percent(r.flat, r.sections) +
                       " of the sections were sent one by one: send by a deferred_block");
  }
  // A batch should have some messages for each partition by which the log is sorted.
  std::uint64_t const columns = r.split == 0 ? 0 : r.partitions / r.split;
  std::uint64_t const of_blocks = r.sections - r.combined_away - r.flat;
  if (!sections.combines && r.batches != 0 && of_blocks / r.batches < 2 * columns) {
    r.advice.push_back("a batch has " + one_digit(ratio(of_blocks, r.batches)) +
                       " sections on average, for " + text_of(columns) +
                       " partitions: let each block send more before it flushes");
  }
  if (sections.is_atomic && !sections.in_order)
    r.advice.push_back("each section is one atomic: plain atomics may be faster");
  if (r.room / 4 >= r.sections) {
    r.advice.push_back("the log has room for " + text_of(r.room) + " sections, but the run had " +
                       text_of(r.sections) + ": make a smaller log");
  }
}

WARDEN_HOST_NAMESPACE_END
